#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/wait_queue.hpp>

namespace bide {

/// One thread at a time, across awaits.
///
///     Mutex::Guard guard = co_await mutex.lock();
///
/// Order:    higher class first, then who came first. No barging: an unlock hands over, so a waiter owns the
///           mutex before it runs, and the late comer queues.
/// Inherits: while others wait, the owner runs at least at the class of the most urgent of them.
/// Cancel:   a waiter withdraws in O(1). Who was handed the mutex has it; its next wait throws.
/// Requires: unlocked by the thread that locked it; not destroyed locked during a run. A thread that locks
///           twice waits for itself, which a Deadlock reports.
/// Reports:  of a thread that waits for it name the owner, and the line at which that locked it.
/// Cost:     lock and unlock O(1), no allocation.
class Mutex {
 public:
  class Guard;
  class Lock;

  /// The name is shown in reports. Not copied: a string literal, or text that outlives the mutex.
  explicit Mutex(const char* name = nullptr) : name_(name) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex();

  /// `co_await mutex.lock()`: a Guard.
  ///
  /// Suspends: unless it is free. Cancellation point: Cancelled leaves the mutex untouched.
  /// Throws:   Cancelled.
  [[nodiscard]] Lock lock(std::source_location where = std::source_location::current());
  /// A plain call, in a thread. Returns: an empty Guard when the mutex is locked.
  [[nodiscard]] Guard try_lock(std::source_location where = std::source_location::current());

  bool locked() const { return owner_.holder() != nullptr; }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  friend class ConditionVariable;

  void unlock();
  void hand_over();

  Obligation owner_;
  std::source_location locked_at_;  // by the owner
  WaitQueue waiters_{&owner_};
  const char* name_;
  Mutex** kept_in_ =
      nullptr;  // the pointer to this in whoever will unlock it: a Guard, or a Lock yet to resume
};

/// Owns a locked Mutex, or nothing.
class [[nodiscard]] Mutex::Guard {
 public:
  using BoundToThread = void;  // combinators that make threads refuse it

  Guard() = default;
  Guard(Guard&& other) noexcept { take_from(other); }
  /// Unlocks what this held. Of a self-move nothing comes.
  Guard& operator=(Guard&& other) noexcept {
    if (this == &other) return *this;
    unlock();
    take_from(other);
    return *this;
  }
  ~Guard() { unlock(); }

  /// Hands the mutex to its first waiter, which becomes ready. An empty Guard has nothing to do.
  /// Requires: called by the owning thread.
  void unlock() {
    if (mutex_ != nullptr) std::exchange(mutex_, nullptr)->unlock();
  }
  explicit operator bool() const { return mutex_ != nullptr; }

 private:
  friend class Mutex;
  friend class ConditionVariable;

  explicit Guard(Mutex& mutex) : mutex_(&mutex) { mutex.kept_in_ = &mutex_; }
  void take_from(Guard& other) noexcept {
    mutex_ = std::exchange(other.mutex_, nullptr);
    if (mutex_ != nullptr) mutex_->kept_in_ = &mutex_;
  }

  Mutex* mutex_ = nullptr;
};

/// The wait for a Mutex.
class [[nodiscard]] Mutex::Lock final : public QueuedWait {
 public:
  Lock(Mutex& mutex, std::source_location where) : QueuedWait(where), mutex_(mutex) {}
  ~Lock() {  // handed over to a thread that was destroyed before it ran
    if (granted_ != nullptr) granted_->hand_over();
  }

  bool await_ready() {
    if (enter()) return true;
    if (mutex_.locked()) return false;
    grant();
    return true;
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(mutex_.waiters_, frame.promise());
  }
  Guard await_resume() {
    finish();
    require(granted_ != nullptr, "a Mutex was destroyed while a thread was about to have it");
    granted_ = nullptr;
    return Guard(mutex_);
  }

  std::string describe() const override;
  std::vector<const GreenThread*> waits_for() const override;
  std::optional<std::source_location> taken_at() const override;

 private:
  friend class Mutex;

  void grant() {
    mutex_.owner_.hold(*thread());
    mutex_.locked_at_ = where();
    thread()->locked();
    granted_ = &mutex_;
    mutex_.kept_in_ = &granted_;
  }
  void serve() {
    wake();
    grant();
  }

  Mutex& mutex_;
  Mutex* granted_ = nullptr;
};

inline Mutex::Lock Mutex::lock(std::source_location where) { return Lock(*this, where); }

}  // namespace bide
