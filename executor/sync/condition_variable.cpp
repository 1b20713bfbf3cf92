#include <bide/executor/cancel_scope.hpp>
#include <bide/executor/cancelled.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/named.hpp>

namespace bide {

Task<> ConditionVariable::wait(Mutex::Guard& guard, std::source_location where) {
  require(static_cast<bool>(guard), "a ConditionVariable is awaited without its mutex", where);
  Mutex& mutex = *guard.mutex_;
  const Notice::End end = co_await Notice(*this, guard, where);
  if (!guard && end != Notice::End::gone) {
    CancelScope shield(CancelScope::Shield::yes);
    shield.enter();
    guard = co_await mutex.lock(where);
    shield.leave();
  }
  if (end != Notice::End::notified) throw Cancelled();
}

void ConditionVariable::notify_one() {
  if (QueuedWait* next = waiters_.take_first()) static_cast<Notice*>(next)->wake();
}

void ConditionVariable::notify_all() {
  while (QueuedWait* next = waiters_.take_first()) static_cast<Notice*>(next)->wake();
}

std::string ConditionVariable::Notice::describe() const {
  return named("condition variable", variable_.name_);
}

}  // namespace bide
