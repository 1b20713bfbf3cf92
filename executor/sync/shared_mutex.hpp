#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include <bide/executor/wait_queue.hpp>

namespace bide {

/// Many readers, or one writer.
///
///     SharedMutex::Guard guard = co_await mutex.lock_shared();
///
/// Order:    higher class first, then who came first, readers and writers alike: a reader waits behind a writer
///           of its class that waits, so writers are not starved. An unlock hands over, to all the readers
///           that stand in front together. No barging.
/// Inherits: while others wait, a writer runs at least at the class of the most urgent of them. Readers do
///           not.
/// Cancel:   a waiter withdraws in O(1); a writer that goes lets the readers behind it through. Who was handed
///           the mutex has it; its next wait throws.
/// Requires: unlocked by the thread that locked it; not destroyed locked during a run; a reader does not lock
///           again before it has unlocked: behind a waiting writer it would wait for itself.
/// Cost:     O(1), no allocation.
class SharedMutex {
 public:
  class Guard;
  class Lock;

  /// The name is shown in reports. Not copied.
  explicit SharedMutex(const char* name = nullptr) : name_(name) {}
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;
  ~SharedMutex();

  /// `co_await mutex.lock()`: a Guard for the writer.
  ///
  /// Suspends: unless it is free. Cancellation point: Cancelled leaves the mutex untouched.
  /// Throws:   Cancelled.
  [[nodiscard]] Lock lock(std::source_location where = std::source_location::current());
  /// `co_await mutex.lock_shared()`: a Guard for a reader.
  ///
  /// Suspends: if there is a writer, or a waiter that goes first. Cancellation point, as `lock`.
  /// Throws:   Cancelled.
  [[nodiscard]] Lock lock_shared(std::source_location where = std::source_location::current());
  /// Plain calls, in a thread. Returns: an empty Guard if the lock would have to wait.
  [[nodiscard]] Guard try_lock();
  [[nodiscard]] Guard try_lock_shared();

  /// By a writer.
  bool locked() const { return writer_.holder() != nullptr; }
  std::size_t readers() const { return locked() ? 0 : holder_count_; }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  enum class Mode : std::uint8_t { shared, exclusive };

  // A share in the mutex, or all of it: part of a Guard, or of a Lock yet to resume.
  struct Hold {
    SharedMutex* mutex = nullptr;  // nullptr: empty
    GreenThread* thread;
    Hold* next;
    Hold* previous;

    void take_from(Hold& other) noexcept;
    void unlock();
  };

  bool admits(Mode mode, const GreenThread& thread) const;
  void grant(Hold& hold, Mode mode, GreenThread& thread);
  void link(Hold& hold);
  void unlink(Hold& hold);
  void serve();
  Guard try_lock(Mode mode);

  Obligation writer_;
  WaitQueue waiters_{&writer_};
  Hold* first_hold_ = nullptr;
  std::size_t holder_count_ = 0;
  bool serving_ = false;
  const char* name_;
};

/// Owns a share of a SharedMutex, or all of it, or nothing.
class [[nodiscard]] SharedMutex::Guard {
 public:
  using BoundToThread = void;  // combinators that make threads refuse it

  Guard() = default;
  Guard(Guard&& other) noexcept { hold_.take_from(other.hold_); }
  /// Unlocks what this held. Of a self-move nothing comes.
  Guard& operator=(Guard&& other) noexcept {
    if (this == &other) return *this;
    unlock();
    hold_.take_from(other.hold_);
    return *this;
  }
  ~Guard() { unlock(); }

  /// The waiters that this lets through become ready. An empty Guard has nothing to do.
  /// Requires: called by the owning thread.
  void unlock() { hold_.unlock(); }
  explicit operator bool() const { return hold_.mutex != nullptr; }

 private:
  friend class SharedMutex;

  Hold hold_;
};

/// The wait for a SharedMutex.
class [[nodiscard]] SharedMutex::Lock final : public QueuedWait {
 public:
  Lock(SharedMutex& mutex, Mode mode, std::source_location where)
      : QueuedWait(where), mutex_(mutex), mode_(mode) {}
  ~Lock() { granted_.unlock(); }  // handed over to a thread that was destroyed before it ran

  bool await_ready() {
    if (enter()) return true;
    if (!mutex_.admits(mode_, *thread())) return false;
    mutex_.grant(granted_, mode_, *thread());
    return true;
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(mutex_.waiters_, frame.promise());
  }
  Guard await_resume();

  void withdrawn() noexcept override { mutex_.serve(); }
  std::string describe() const override;
  std::vector<const GreenThread*> waits_for() const override;

 private:
  friend class SharedMutex;

  SharedMutex& mutex_;
  Mode mode_;
  Hold granted_;
};

inline SharedMutex::Lock SharedMutex::lock(std::source_location where) {
  return Lock(*this, Mode::exclusive, where);
}
inline SharedMutex::Lock SharedMutex::lock_shared(std::source_location where) {
  return Lock(*this, Mode::shared, where);
}
inline SharedMutex::Guard SharedMutex::try_lock() { return try_lock(Mode::exclusive); }
inline SharedMutex::Guard SharedMutex::try_lock_shared() { return try_lock(Mode::shared); }

}  // namespace bide
