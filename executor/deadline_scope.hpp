#pragma once

#include <cstdint>
#include <utility>

#include <bide/executor/cancel_scope.hpp>
#include <bide/executor/executor.hpp>

namespace bide {

/// A scope that cancels itself at an instant. One timer, and no thread.
///
/// The timer has its place in the order of timers from `enter` on, but is armed only if the thread suspends
/// inside: most work that is given a limit does not wait at all, or is done before.
class DeadlineScope : public CancelScope, private Alarm {
 public:
  explicit DeadlineScope(Instant due) : Alarm(Wakes::scope), due_(due) {}
  ~DeadlineScope() { disarm(); }

  /// At a due instant that has come: enters cancelled.
  void enter() {
    CancelScope::enter();
    begin(thread_->executor->now());
  }
  void leave() noexcept {
    disarm();
    CancelScope::leave();
  }
  /// The instant came while this was entered: a Cancelled out of it, with no cancel around it, is a time-out.
  bool expired() const { return expired_; }
  Instant due() const { return due_; }

 protected:
  /// As `enter`, for a limit that counts from now.
  void enter_for(Duration limit) {
    CancelScope::enter();
    const Instant now = thread_->executor->now();
    due_ = add_saturating(now, limit);
    begin(now);
  }

 private:
  friend class Executor;

  void begin(Instant now) {
    if (due_ <= now) return expire();
    Executor& executor = *thread_->executor;
    place_ = executor.timers_.take_place();
    entered_before_ = std::exchange(executor.entered_deadlines_, this);
  }
  // Scopes are left in the reverse order, so one that is not armed yet is the last that was entered.
  void disarm() noexcept {
    if (armed()) {
      thread_->executor->timers_.cancel(*this);
    } else if (thread_ != nullptr && thread_->executor->entered_deadlines_ == this) {
      thread_->executor->entered_deadlines_ = entered_before_;
    }
  }
  void expire() {
    expired_ = true;
    cancel();
  }

  Instant due_;
  std::uint64_t place_ = 0;
  DeadlineScope* entered_before_ = nullptr;
  bool expired_ = false;
};

}  // namespace bide
