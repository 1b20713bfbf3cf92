// Lesson 25: deadlines
//
// What you learn: work that says until when it must be done, and how long it takes, is not urgent today and
// very urgent tomorrow. What counts is its latest start: deadline minus duration. Before that its urgency
// rises, and it passes higher classes that have no deadline.
//
// Look at: the report takes 2 minutes and is due in 10, so it must start at 8. It begins to hurry two minutes
// earlier, and from minute 7 on it passes the mail, which is of a higher class. The alarm is critical:
// nothing passes that.
//
// Try: make the mail normal. Then take the hint away: one second is assumed. Why does the mail stay in front?

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

Task<> alarm_clock() {
  for (int minute = 1; minute <= 9; ++minute) {
    co_await Sleep(1min);
    std::printf("%s%d min:", minute > 1 ? "\n" : "", minute);
  }
}

// Wakes each minute, at the same instants as the others, and tells when it is its turn.
Task<> take_turns(const char* name) {
  for (int minute = 1; minute <= 9; ++minute) {
    co_await Sleep(1min);
    std::printf(" %s", name);
  }
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(alarm_clock(), {.priority = Priority::critical});
  executor.submit(take_turns("mail"), {.priority = Priority::high});
  executor.submit(take_turns("report"), {.deadline_in = 10min, .duration_hint = 2min});
  executor.run();
  std::printf("\n");
}
