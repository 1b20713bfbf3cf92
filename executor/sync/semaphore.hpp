#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include <bide/executor/wait_queue.hpp>

namespace bide {

/// A number of permits.
///
/// Order:  higher class first, then who came first, whatever the amount: a request that is too big for now
///         holds up the later ones of its class, so it is not starved. No barging: permits go to waiters.
/// Cancel: a waiter withdraws in O(1), and those behind it are looked at. Who was given permits has them; its
///         next wait throws.
/// Cost:   acquire O(1), release O(waiters served); no allocation.
class Semaphore {
 public:
  class Acquire;

  /// The name is shown in reports. Not copied.
  explicit Semaphore(std::size_t permits, const char* name = nullptr) : value_(permits), name_(name) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /// `co_await semaphore.acquire()`: takes permits; give them back with `release`.
  ///
  /// Suspends: unless there are enough and nobody waits in front. Cancellation point: Cancelled has taken none.
  /// Throws:   Cancelled.
  /// Nothing limits `permits`: more than will ever be released waits for ever.
  [[nodiscard]] Acquire acquire(std::size_t permits = 1,
                                std::source_location where = std::source_location::current());
  /// Takes them if `acquire` would not have to wait. Outside of a green thread, as one of the lowest class.
  [[nodiscard]] bool try_acquire(std::size_t permits = 1);

  /// A plain call, from anywhere on the executor's OS thread, also by who acquired nothing: permits are not owned.
  /// Requires: the sum can be counted.
  void release(std::size_t permits = 1) {
    require(permits <= SIZE_MAX - value_, "a Semaphore is released more often than it can count");
    value_ += permits;
    if (!waiters_.empty()) serve();
  }

  std::size_t value() const { return value_; }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  void serve();

  std::size_t value_;
  bool serving_ = false;
  WaitQueue waiters_;
  const char* name_;
};

/// The wait for permits of a Semaphore.
class [[nodiscard]] Semaphore::Acquire final : public QueuedWait {
 public:
  Acquire(Semaphore& semaphore, std::size_t permits, std::source_location where)
      : QueuedWait(where), semaphore_(semaphore), permits_(permits) {}

  bool await_ready() { return enter() || semaphore_.try_acquire(permits_); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(semaphore_.waiters_, frame.promise());
  }
  void await_resume() const { finish(); }

  void withdrawn() noexcept override { semaphore_.serve(); }
  std::string describe() const override;
  std::string remedy() const override { return permits_ == 1 ? "release a permit" : "release permits"; }

 private:
  friend class Semaphore;
  Semaphore& semaphore_;
  std::size_t permits_;
};

inline Semaphore::Acquire Semaphore::acquire(std::size_t permits, std::source_location where) {
  return Acquire(*this, permits, where);
}

inline bool Semaphore::try_acquire(std::size_t permits) {
  if (value_ < permits) return false;
  if (!waiters_.empty() && (running.thread == nullptr || !waiters_.would_be_first(*running.thread)))
    return false;
  value_ -= permits;
  return true;
}

}  // namespace bide
