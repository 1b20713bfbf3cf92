#pragma once

#include <bide/executor/executor.hpp>

namespace bide {

/// Something that the loop calls at an instant, in the place of a sleeper: for waits that end by themselves.
///
/// Order: with the sleepers of the same instant, as armed.
/// Cost:  one timer; no allocation once the array of timers has grown.
class TimedCall : private Alarm {
 protected:
  TimedCall() : Alarm(Wakes::call) {}
  ~TimedCall() { disarm(); }

  /// The instant has come, and the timer is no longer armed. It may arm again.
  virtual void due() noexcept = 0;

  /// Requires: not armed. In virtual time the instant lies ahead.
  void arm(Executor& executor, Instant at) {
    executor.timers_.arm(*this, at);
    executor_ = &executor;
  }
  void disarm() noexcept {
    if (armed()) executor_->timers_.cancel(*this);
  }
  using Alarm::armed;

 private:
  friend class Executor;

  Executor* executor_ = nullptr;
};

}  // namespace bide
