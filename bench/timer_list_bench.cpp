// Row D without the threads: what the timer list alone costs. One item is one timer armed and fired, or armed
// and cancelled.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <bide/tests/random.hpp>
#include <bide/timers/timer_list.hpp>

namespace {

using bide::Duration;
using bide::Instant;
using bide::Timer;
using bide::TimerList;
using bide::test::Random;

constexpr std::int64_t second = 1'000'000'000;

/// A timer in the place it has in a program: a frame of its own, which the wake-up touches.
struct Frame {
  std::uint64_t wakes = 0;
  std::uint64_t control_block[7] = {};
  Timer timer;
  std::uint64_t locals[23] = {};
};

/// 1 ns to 1 s.
Duration random_delay(Random& random) {
  return Duration(1 + static_cast<std::int64_t>(random.below(second)));
}

Instant after_start(std::int64_t nanoseconds) { return Instant(Duration(nanoseconds)); }

struct Sleepers {
  explicit Sleepers(std::int64_t count) : frames(static_cast<std::size_t>(count)) {
    for (Frame& frame : frames) timers.arm(frame.timer, Instant() + random_delay(random));
  }
  ~Sleepers() { timers.clear(); }

  Random random{42};
  std::vector<Frame> frames;
  TimerList timers;
};

/// The hold model: whoever wakes falls asleep again.
void timer_hold(benchmark::State& state) {
  Sleepers sleepers(state.range(0));
  std::size_t fired_count = 0;
  for (auto _ : state) {
    const Instant now = *sleepers.timers.next_due();
    fired_count += sleepers.timers.release(
        now, [&](Timer& timer) noexcept { sleepers.timers.arm(timer, now + random_delay(sleepers.random)); });
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(fired_count));
}
BENCHMARK(timer_hold)->Arg(100)->Arg(1'000)->Arg(16'000)->Arg(17'000)->Arg(100'000)->Arg(1'000'000);

/// Everybody sleeps until one instant: one release fires them all.
void timer_hold_one_instant(benchmark::State& state) {
  std::vector<Frame> frames(static_cast<std::size_t>(state.range(0)));
  TimerList timers;
  Instant now{};
  for (Frame& frame : frames) timers.arm(frame.timer, now);
  std::size_t fired_count = 0;
  for (auto _ : state) {
    fired_count +=
        timers.release(now, [&](Timer& timer) noexcept { timers.arm(timer, now + Duration(1'000)); });
    now += Duration(1'000);
  }
  timers.clear();
  state.SetItemsProcessed(static_cast<std::int64_t>(fired_count));
}
BENCHMARK(timer_hold_one_instant)->Arg(1'000)->Arg(100'000);

/// A timeout around something that ends at once, while others wait.
void arm_cancel(benchmark::State& state) {
  Sleepers sleepers(state.range(0));
  Timer timeout;
  for (auto _ : state) {
    sleepers.timers.arm(timeout, Instant() + random_delay(sleepers.random));
    sleepers.timers.cancel(timeout);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(arm_cancel)->Name("D_arm_cancel")->RangeMultiplier(10)->Range(10, 1'000'000);

/// Connections whose idle timeout is pushed back with every request: almost none ever fires, and the loop
/// looks at the earliest each turn.
void timer_refresh(benchmark::State& state) {
  Sleepers sleepers(state.range(0));
  std::int64_t now = 0;
  for (auto _ : state) {
    Timer& timer = sleepers.frames[sleepers.random.below(sleepers.frames.size())].timer;
    now += 10;
    sleepers.timers.cancel(timer);
    sleepers.timers.arm(timer, after_start(now + 30 * second));
    benchmark::DoNotOptimize(sleepers.timers.next_due());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(timer_refresh)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

}  // namespace
