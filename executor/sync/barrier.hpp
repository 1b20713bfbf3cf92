#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include <bide/executor/wait_queue.hpp>

namespace bide {

/// Lets threads through in groups: each waits until all have arrived, again and again.
///
/// Order:  the last to arrive goes on without a suspension; the others become ready by class, then as they
///         came.
/// Cancel: a waiter takes its arrival back, so the group waits for another in its place. Who was let through is
///         through.
/// Cost:   no allocation.
class Barrier {
 public:
  class Arrival;

  /// Requires: `size` is at least 1. The name is shown in reports. Not copied.
  explicit Barrier(std::size_t size, const char* name = nullptr);
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// `co_await barrier.arrive_and_wait()`: counts as one of the group, and goes on when that is complete.
  ///
  /// Suspends: unless it is the last. Cancellation point: entered cancelled it has not arrived.
  /// Throws:   Cancelled.
  /// Cost:     O(1); for the last O(waiters).
  [[nodiscard]] Arrival arrive_and_wait(std::source_location where = std::source_location::current());
  /// A plain call: from now on groups are smaller by one, this one too. Requires: size() is at least 1.
  void arrive_and_drop();

  /// How many groups went through.
  std::uint64_t generation() const { return generation_; }
  std::size_t size() const { return size_; }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  void let_through();

  std::size_t size_;
  std::uint64_t generation_ = 0;
  WaitQueue waiters_;  // each is an arrival of this generation
  const char* name_;
};

/// The wait for a Barrier's group to be complete.
class [[nodiscard]] Barrier::Arrival final : public QueuedWait {
 public:
  Arrival(Barrier& barrier, std::source_location where) : QueuedWait(where), barrier_(barrier) {}

  bool await_ready() {
    if (enter()) return true;
    if (barrier_.waiters_.size() + 1 < barrier_.size_) return false;
    barrier_.let_through();
    return true;
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(barrier_.waiters_, frame.promise());
  }
  void await_resume() const { finish(); }

  std::string describe() const override;
  std::string remedy() const override { return "arrive"; }

 private:
  friend class Barrier;
  Barrier& barrier_;
};

inline Barrier::Arrival Barrier::arrive_and_wait(std::source_location where) { return Arrival(*this, where); }

}  // namespace bide
