#include <bide/executor/wait.hpp>

#include <bide/executor/executor.hpp>

namespace bide {

void Wait::rank_again(GreenThread& thread) { thread.executor->rank_again(thread); }

void Wait::park_for_ever() {
  Wait& parked = thread_->wait();
  if (parked.gone_) return;
  if (&parked != this) parked.withdraw();
  parked.gone_ = true;
}

void CancellationPoint::throw_cancelled() { throw Cancelled(); }

void JoinWait::lend_rank() {
  ending_.hold(*target_->thread);
  ending_.demand(thread()->rank, thread()->urgency);
}

GreenThread* JoinWait::rank_changed() {
  if (target_ == nullptr || woken_) return nullptr;
  if (ending_.holder() == nullptr) ending_.hold(*target_->thread);
  return ending_.note_demand(thread()->rank, thread()->urgency);
}

std::vector<const GreenThread*> JoinWait::waits_for() const {
  if (target_ == nullptr || target_->thread == nullptr) return {};
  return {target_->thread};
}

std::string JoinWait::describe() const {
  if (target_ == nullptr) return "a thread whose Handle is gone";
  if (target_->thread == nullptr) return "a thread that has ended";  // and is about to wake this
  return "thread " + std::to_string(target_->thread->id) + " to end";
}

// The joiner stays parked: only a cancel can wake it, and a Deadlock names it.
void ResultSlot::forget_joiner() noexcept {
  joiner->target_ = nullptr;
  joiner->ending_.let_go();
  joiner = nullptr;
}

}  // namespace bide
