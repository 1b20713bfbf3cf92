#pragma once

#include <concepts>
#include <coroutine>
#include <source_location>

#include <bide/executor/cancellation_point.hpp>
#include <bide/executor/executor.hpp>

namespace bide {

/// `co_await SleepUntil(instant)`: suspends this thread until the executor's clock has reached the instant.
///
/// Suspends: always; an instant that has come is a Yield and costs no tick. Cancellation point.
/// Order:    threads due at one instant become ready in the order in which they fell asleep.
/// Throws:   Cancelled.
/// Cost:     O(log n) for n sleepers; no allocation.
class [[nodiscard]] SleepUntil {
 public:
  explicit SleepUntil(Instant due, std::source_location where = std::source_location::current())
      : time_(due), where_(where) {}

  bool await_ready() const { return CancellationPoint::enter("a sleep outside of a green thread"); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    running.thread->leaf = &frame.promise();
    running.executor->sleep(*running.thread, *this);
  }
  void await_resume() const { CancellationPoint::leave(); }

  /// Before it is awaited.
  Instant due() const { return time_; }
  std::source_location where() const { return where_; }

 private:
  friend class Executor;
  friend ThreadReport describe(const GreenThread&);

  Instant time_;  // when it is due; once the thread is asleep, since when: the list of timers knows the rest
  std::source_location where_;
};

/// `co_await Sleep(5ms)`: suspends this thread for at least the duration.
///
/// Units: nanoseconds of the executor's clock, from `now()` at the call; `now() + duration` saturates at the
///        last instant. Zero and less is a Yield.
/// Else as SleepUntil.
class [[nodiscard]] Sleep : public SleepUntil {
 public:
  // By reference: a copy would lie in the frame of each sleeper.
  explicit Sleep(const Duration& duration, std::source_location where = std::source_location::current())
      : SleepUntil(add_saturating(bide::now(), duration), where) {}
};

}  // namespace bide
