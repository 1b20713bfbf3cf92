// Four classes: of all threads that are ready the highest class goes first, and inside a class who became
// ready first. A thread keeps the CPU until it awaits; nobody is interrupted.
//
// That order is strict: low work waits for as long as there is higher work. Where it must get through, the
// executor raises the oldest waiting thread by a class, for its next turn, after so many turns of any
// (`promote_every`).

#include <bide/executor/executor.hpp>

#include <cstdint>
#include <cstdio>

namespace {

bide::Task<> work(const char* name, int turns) {
  for (int turn = 1; turn <= turns; ++turn) {
    std::printf(" %s", name);
    co_await bide::Yield();  // behind all that are ready in this class; the last one returns only to end
  }
}

void show(const char* title, std::uint64_t promote_every) {
  bide::Executor executor({.time = bide::TimeMode::virtual_time, .promote_every = promote_every});
  executor.submit(work("low", 1), {.priority = bide::Priority::low});
  executor.submit(work("normal", 2));  // the class of a thread that says nothing, submitted from outside
  executor.submit(work("high-a", 3), {.priority = bide::Priority::high});
  executor.submit(work("high-b", 3), {.priority = bide::Priority::high});
  executor.submit(work("critical", 1), {.priority = bide::Priority::critical});
  std::printf("%s:", title);
  executor.run();
  std::printf("\n");
}

}  // namespace

int main() {
  show("strict", 0);
  show("promote every 2", 2);
}
