#pragma once

#include <chrono>

#include <bide/queue/saturating.hpp>

namespace bide {

/// A span of time in whole nanoseconds, negative ones included: at most 292 years either way.
using Duration = std::chrono::nanoseconds;

/// The clock of the executor that runs the calling thread, in the shape the standard gives to clocks.
struct ExecutorClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<ExecutorClock, Duration>;
  static constexpr bool is_steady = true;

  /// The executor core defines it; it reads a number the loop keeps, and never goes back.
  static time_point now();
};

/// A point in an executor's time.
///
/// Units: nanoseconds since the start of the run in virtual time, of CLOCK_MONOTONIC in real time.
///        `Instant::max()` is an instant like any other, only the last one.
using Instant = ExecutorClock::time_point;

static_assert(sizeof(Duration::rep) == 8);

/// `at + span`, or the first or last instant where the sum lies beyond it.
[[nodiscard]] constexpr Instant add_saturating(Instant at, Duration span) noexcept {
  if (span >= Duration::zero()) return at > Instant::max() - span ? Instant::max() : at + span;
  return at < Instant::min() - span ? Instant::min() : at + span;
}

/// `to - from`, or the shortest or longest duration where the difference lies beyond it.
[[nodiscard]] constexpr Duration subtract_saturating(Instant to, Instant from) noexcept {
  return subtract_saturating(to.time_since_epoch(), from.time_since_epoch());
}

}  // namespace bide
