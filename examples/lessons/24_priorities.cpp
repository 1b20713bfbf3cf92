// Lesson 24: priorities, starvation, promotion
//
// What you learn: there are four classes, and the higher one always goes first. That is strict: as long as
// high work is ready, low work gets nothing. `promote_every` counts turns and after every N of them lifts the
// oldest waiting thread by one class: never up to critical, and without any clock, so that the order is the
// same everywhere.
//
// Look at: strict, the sweeper comes after all turns of the chef. With a promotion every two turns it is
// normal after two and high after four, and as the oldest it goes first there: fifth.
//
// Try: promote_every = 1. Then make the chef critical: no promotion helps against that.

#include <bide/executor/executor.hpp>

#include <cstdint>
#include <cstdio>

using namespace bide;

namespace {

Task<> work(const char* name, int turns) {
  for (int turn = 1; turn <= turns; ++turn) {
    if (turn > 1) co_await Yield();
    std::printf(" %s", name);
  }
}

void open_kitchen(std::uint64_t promote_every) {
  Executor executor({.time = TimeMode::virtual_time, .promote_every = promote_every});
  executor.submit(work("sweeper", 1), {.priority = Priority::low});
  executor.submit(work("chef", 6), {.priority = Priority::high});
  executor.submit(work("FIRE", 1), {.priority = Priority::critical});
  std::printf("promote every %d:", static_cast<int>(promote_every));
  executor.run();
  std::printf("\n");
}

}  // namespace

int main() {
  open_kitchen(0);  // never: strict
  open_kitchen(2);
}
