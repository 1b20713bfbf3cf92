#include <bide/executor/obligation.hpp>

#include <algorithm>

#include <bide/executor/executor.hpp>

namespace bide {

void Obligation::hold(GreenThread& thread) {
  require(holder_ == nullptr, "something is held by two threads");
  holder_ = &thread;
  if (!demanded_ || !matters()) return;
  link();
  thread.executor->rank_again(thread);
}

void Obligation::let_go_linked() {
  unlink();
  GreenThread& thread = *std::exchange(holder_, nullptr);
  thread.executor->rank_again(thread);
}

GreenThread* Obligation::note_demand(Priority priority, Urgency* urgency) {
  if (demanded_ && priority_ == priority && urgency_ == urgency) return nullptr;
  demanded_ = true;
  priority_ = priority;
  urgency_ = urgency;
  if (holder_ == nullptr || (!linked_ && !matters())) return nullptr;
  if (!linked_) link();
  return holder_;
}

void Obligation::demand(Priority priority, Urgency* urgency) {
  if (GreenThread* thread = note_demand(priority, urgency); thread != nullptr) {
    thread->executor->rank_again(*thread);
  }
}

void Obligation::nobody_waits() {
  if (!demanded_) return;
  demanded_ = false;
  urgency_ = nullptr;
  if (!linked_) return;
  unlink();
  holder_->executor->rank_again(*holder_);
}

// Measured by what the holder is, not by what it inherits at the moment: that may end before this does.
bool Obligation::matters() const {
  const Urgency* own = holder_->debts != nullptr ? holder_->debts->own_urgency : holder_->urgency;
  return priority_ > holder_->own_priority || starts_before(urgency_, own);
}

void Obligation::link() {
  if (holder_->debts == nullptr) {
    holder_->debts = ::new (frame_pool.allocate(sizeof(Debts))) Debts{.own_urgency = holder_->urgency};
  }
  previous_ = nullptr;
  next_ = holder_->debts->first;
  if (next_ != nullptr) next_->previous_ = this;
  holder_->debts->first = this;
  linked_ = true;
}

void Obligation::unlink() {
  (previous_ != nullptr ? previous_->next_ : holder_->debts->first) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  linked_ = false;
}

// Works out the rank of a thread from what it is and what it owes, and hands a change on along the chain of
// holders. A circle of holders is a deadlock; the walk ends there too, since ranks in it stop changing.
void Executor::rank_again(GreenThread& first) {
  for (GreenThread* thread = &first; thread != nullptr;) {
    Priority priority = thread->own_priority;
    Urgency* urgency = thread->debts != nullptr ? thread->debts->own_urgency : thread->urgency;
    for (const Obligation* debt = thread->debts != nullptr ? thread->debts->first : nullptr; debt != nullptr;
         debt = debt->next_) {
      priority = std::max(priority, debt->priority_);
      if (starts_before(debt->urgency_, urgency)) urgency = debt->urgency_;
    }
    if (priority == thread->rank && urgency == thread->urgency) return;
    thread->rank = priority;
    if (thread->queued()) {
      ready_.rerank(*thread, priority, urgency);
      return;
    }
    thread->priority = priority;
    thread->urgency = urgency;
    if (thread->state != Runnable::State::waiting) return;
    thread = thread->wait().rank_changed();
  }
}

void Executor::free_ranking(Urgency* own_urgency, Debts* debts) noexcept {
  if (debts != nullptr) {
    require(debts->first == nullptr, "a thread ends while it holds what others wait for");
    frame_pool.release(debts, sizeof(Debts));
  }
  if (own_urgency != nullptr) frame_pool.release(own_urgency, sizeof(Urgency));
}

}  // namespace bide
