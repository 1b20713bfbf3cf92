#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/task.hpp>
#include <bide/executor/wait_queue.hpp>

namespace bide {

/// Waits for what a Mutex guards to become so.
///
///     Mutex::Guard guard = co_await mutex.lock();
///     co_await changed.wait(guard, [&] { return !queue.empty(); });
///
/// Order:  notified by class, then as they came; then they queue for the mutex. Nobody wakes by itself.
/// Cancel: also then the guard holds the mutex again when Cancelled leaves the wait. Who was notified is not
///         withdrawn any more: it returns, and its next wait throws.
/// Cost:   a frame of the frame pool for each wait.
class ConditionVariable {
 public:
  class Notice;

  /// The name is shown in reports. Not copied.
  explicit ConditionVariable(const char* name = nullptr) : name_(name) {}
  ConditionVariable(const ConditionVariable&) = delete;
  ConditionVariable& operator=(const ConditionVariable&) = delete;

  /// Unlocks, waits to be notified, locks again.
  ///
  /// Suspends: always, also after a cancel, until it has the mutex again. Cancellation point: entered cancelled
  ///           it does not unlock.
  /// Throws:   Cancelled, with the mutex locked.
  /// Requires: the guard holds a mutex; guard and mutex outlive the wait.
  Task<> wait(Mutex::Guard& guard, std::source_location where = std::source_location::current());

  /// Waits as long as `predicate()` is false. It is called with the mutex held.
  ///
  /// Suspends: unless it is true at once. Cancellation point in any case, with or without a suspension.
  /// Throws:   Cancelled, or what the predicate throws, with the mutex locked.
  /// Requires: as above.
  template <std::predicate Predicate>
  Task<> wait(Mutex::Guard& guard, Predicate predicate,
              std::source_location where = std::source_location::current()) {
    if (CancellationPoint::enter("a ConditionVariable is awaited outside of a green thread"))
      CancellationPoint::leave();
    while (!predicate()) co_await wait(guard, where);
  }

  /// Plain calls, from anywhere on the executor's OS thread, with the mutex held or not. Of those who waited
  /// before the call; with none, nothing.
  void notify_one();
  void notify_all();

  std::size_t waiters() const { return waiters_.size(); }

 private:
  WaitQueue waiters_;
  const char* name_;
};

/// The wait for a notify. It does not throw: the mutex has to be locked again first.
class [[nodiscard]] ConditionVariable::Notice final : public QueuedWait {
 public:
  Notice(ConditionVariable& variable, Mutex::Guard& guard, std::source_location where)
      : QueuedWait(where), variable_(variable), guard_(guard) {}

  bool await_ready() { return enter(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(variable_.waiters_, frame.promise());
    guard_.unlock();
  }
  /// With `gone`, variable and mutex were destroyed outside of a run, and there is nothing to lock.
  enum class End : std::uint8_t { notified, cancelled, gone };
  End await_resume() const {
    if (gone()) return End::gone;
    return succeeded() ? End::notified : End::cancelled;
  }

  std::string describe() const override;
  std::string remedy() const override { return "notify it"; }

 private:
  friend class ConditionVariable;
  ConditionVariable& variable_;
  Mutex::Guard& guard_;
};

}  // namespace bide
