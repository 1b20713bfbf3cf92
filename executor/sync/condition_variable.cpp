#include <bide/executor/cancel_scope.hpp>
#include <bide/executor/cancelled.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/named.hpp>

namespace bide {

Task<> ConditionVariable::wait(Mutex::Guard& guard, std::source_location where) {
  require(static_cast<bool>(guard), "a ConditionVariable is awaited without its mutex", where);
  Mutex& mutex = *guard.mutex_;
  const bool notified = co_await Notice(*this, guard, where);
  if (!guard) {
    CancelScope shield(CancelScope::Shield::yes);
    shield.enter();
    guard = co_await mutex.lock(where);
    shield.leave();
  }
  if (!notified) throw Cancelled();
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
