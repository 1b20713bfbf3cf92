// Lesson 26: a deadlock report
//
// What you learn: nothing hangs in silence. When no thread can ever run again, `run` throws Deadlock. Its
// `what()` is text for people, and `threads()` has the same to work with: for each thread its name, what it
// waits for, the line of that await, who could end it, and what would. So name your threads and your locks.
//
// Look at: Ann has the fork and waits for the knife, Ben has the knife and waits for the fork: a cycle. Cid
// waits for Ann. Eve is in no cycle: what she waits for is something that nobody is left to do.
//
// Try: print `deadlock.what()`, and `executor.dump()`, which shows all threads at any time. Then let both
// take the fork first: only Eve is left. And the same without the Sleep, in the order as it was? Why?

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/mutex.hpp>

#include <chrono>
#include <cstdio>
#include <utility>

using namespace bide;
using namespace std::chrono_literals;

namespace {

Task<> eat(Mutex& first, Mutex& second) {
  const Mutex::Guard one = co_await first.lock();
  co_await Sleep(1s);
  const Mutex::Guard other = co_await second.lock();
}

Task<> wait_for_table(Handle<> guest) { co_await guest; }

Task<> wait_for_bell(Event& bell) { co_await bell.wait(); }

}  // namespace

int main() {
  Mutex fork("fork");
  Mutex knife("knife");
  Event bell("bell");
  Executor executor({.time = TimeMode::virtual_time});
  Handle<> ann = executor.submit(eat(fork, knife), {.name = "Ann"});
  executor.submit(eat(knife, fork), {.name = "Ben"});
  executor.submit(wait_for_table(std::move(ann)), {.name = "Cid"});
  executor.submit(wait_for_bell(bell), {.name = "Eve"});
  try {
    executor.run();
  } catch (const Deadlock& deadlock) {
    for (const ThreadReport& thread : deadlock.threads()) {
      std::printf("%s %s, in line %d", thread.name.c_str(), thread.state.c_str(),
                  static_cast<int>(thread.waits_at.line()));
      if (thread.waits_for.empty()) std::printf(": nobody is left who could %s", thread.remedy.c_str());
      std::printf("\n");
    }
  }
  executor.stop();  // the threads are still there; cancelled, they let go
  std::printf("left after stop and run: %zu\n", executor.run().unfinished.size());
}
