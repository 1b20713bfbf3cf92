#include <bide/executor/wait.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/group_wait.hpp>

namespace bide {

void Wait::wake() { thread_->executor->wake(*thread_); }

void Wait::throw_cancelled() { throw Cancelled(); }

void JoinWait::park(Frame& frame) {
  require(target_->joiner == nullptr, "two threads wait for one Handle");
  target_->joiner = this;
  Wait::park(frame);
  ending_.hold(*target_->thread);
  ending_.demand(thread()->rank, thread()->urgency);
}

std::string JoinWait::describe() const {
  if (target_ == nullptr) return "a thread whose Handle is gone";
  return "thread " + std::to_string(target_->thread->id) + " to end";
}

// The joiner stays parked: only a cancel can wake it, and a Deadlock names it.
void ResultSlot::forget_joiner() noexcept {
  joiner->target_ = nullptr;
  joiner->ending_.let_go();
  joiner = nullptr;
}

std::string GroupWait::describe() const {
  return std::to_string(group_.size()) + (group_.size() == 1 ? " thread" : " threads") + " of a group to end";
}

}  // namespace bide
