// Lesson 6: ties
//
// What you learn: threads that are due at one instant wake on one jump of the clock, a tick, in the order in
// which they fell asleep. No tie is left to chance, so a program's output is the same on every machine.
//
// Look at: Ben, who is due first, wakes alone at 3. Ann and Cid are due at 5: one jump, and Ann wakes first,
// since she fell asleep first. Two ticks in all, not three.
//
// Try: let Ben sleep until 5 as well: how many ticks are there, and who is first? Then change the order of
// the submits.

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long seconds() { return now().time_since_epoch() / 1s; }

Task<> sleep_until(const char* name, Instant due) {
  std::printf("%lld s: %s falls asleep\n", seconds(), name);
  co_await SleepUntil(due);
  std::printf("%lld s: %s wakes\n", seconds(), name);
}

}  // namespace

int main() {
  const Instant start{};  // of virtual time
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(sleep_until("Ann", start + 5s));
  executor.submit(sleep_until("Ben", start + 3s));
  executor.submit(sleep_until("Cid", start + 5s));
  const RunReport report = executor.run();
  std::printf("ticks: %d\n", static_cast<int>(report.ticks));
}
