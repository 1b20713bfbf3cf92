#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <source_location>
#include <string>

#include <bide/executor/wait_queue.hpp>

namespace bide {

/// Counts down to 0, once, and lets all through then.
///
/// Order:  waiters become ready by class, then as they came.
/// Cancel: a waiter withdraws in O(1); the count stays.
/// Cost:   a wait O(1), the last count_down O(waiters); no allocation.
class Latch {
 public:
  class Wait;

  /// With 0 it is open from the start. The name is shown in reports. Not copied.
  explicit Latch(std::size_t count, const char* name = nullptr) : count_(count), name_(name) {}
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  /// A plain call, from anywhere on the executor's OS thread. Requires: `by` is not more than count().
  void count_down(std::size_t by = 1);

  /// `co_await latch.wait()`: goes on when the count is 0.
  ///
  /// Suspends: unless it is. Cancellation point, also when it is.
  /// Throws:   Cancelled.
  [[nodiscard]] Wait wait(std::source_location where = std::source_location::current());
  /// True when the count is 0.
  bool try_wait() const { return count_ == 0; }
  /// Counts down by one, then waits.
  ///
  /// Suspends: unless the count is 0 by that. Cancellation point: entered cancelled it does neither; cancelled
  ///           later, the count stays down.
  /// Throws:   Cancelled. Requires: the count is not 0.
  [[nodiscard]] Wait arrive_and_wait(std::source_location where = std::source_location::current());

  std::size_t count() const { return count_; }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  std::size_t count_;
  WaitQueue waiters_;
  const char* name_;
};

/// The wait for a Latch.
class [[nodiscard]] Latch::Wait final : public QueuedWait {
 public:
  Wait(Latch& latch, std::size_t arrivals, std::source_location where)
      : QueuedWait(where), latch_(latch), arrivals_(arrivals) {}

  bool await_ready() {
    if (enter()) return true;
    latch_.count_down(arrivals_);
    return latch_.count_ == 0;
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(latch_.waiters_, frame.promise());
  }
  void await_resume() const { finish(); }

  std::string describe() const override;
  std::string remedy() const override { return "count it down"; }

 private:
  friend class Latch;
  Latch& latch_;
  std::size_t arrivals_;
};

inline Latch::Wait Latch::wait(std::source_location where) { return Wait(*this, 0, where); }
inline Latch::Wait Latch::arrive_and_wait(std::source_location where) { return Wait(*this, 1, where); }

}  // namespace bide
