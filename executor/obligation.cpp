#include <bide/executor/obligation.hpp>

#include <algorithm>

#include <bide/executor/executor.hpp>
#include <bide/executor/group_scope.hpp>

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

GreenThread* Obligation::note_demand(Priority priority, const Urgency* urgency) {
  const std::chrono::nanoseconds latest_start = urgency != nullptr ? urgency->latest_start : Urgency::none;
  const std::chrono::nanoseconds horizon = urgency != nullptr ? urgency->horizon : Duration::zero();
  if (demanded_ && priority_ == priority && latest_start_ == latest_start && horizon_ == horizon)
    return nullptr;
  demanded_ = true;
  priority_ = priority;
  latest_start_ = latest_start;
  horizon_ = horizon;
  if (holder_ == nullptr || (!linked_ && !matters())) return nullptr;
  if (!linked_) link();
  return holder_;
}

void Obligation::demand(Priority priority, const Urgency* urgency) {
  if (GreenThread* thread = note_demand(priority, urgency); thread != nullptr) {
    thread->executor->rank_again(*thread);
  }
}

void Obligation::nobody_waits() {
  if (!demanded_) return;
  demanded_ = false;
  if (!linked_) return;
  unlink();
  holder_->executor->rank_again(*holder_);
}

// Measured by what the holder is, not by what it inherits at the moment: that may end before this does.
bool Obligation::matters() const {
  const Urgency* own = holder_->debts != nullptr ? holder_->debts->own_urgency : holder_->urgency;
  return priority_ > holder_->own_priority || latest_start_ < latest_start_of(own);
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

Urgency* Debts::inherit(std::chrono::nanoseconds latest_start, std::chrono::nanoseconds horizon,
                        const Urgency* now) {
  const std::size_t has = now == &inherited[1] ? 1 : 0;
  if (now == &inherited[has] && now->latest_start == latest_start && now->horizon == horizon)
    return &inherited[has];
  inherited[1 - has] = {.latest_start = latest_start, .horizon = horizon};
  return &inherited[1 - has];
}

// Works out the rank of a thread from what it is and what it owes, and hands a change on along the chain of
// holders. A circle of holders is a deadlock; the walk ends there too, since ranks in it stop changing.
void Executor::rank_again(GreenThread& first) {
  rank_chain(first);
  if (noted_members_ != nullptr) GroupScope::rank_noted(*this);
}

void Executor::rank_chain(GreenThread& first) {
  for (GreenThread* thread = &first; thread != nullptr;) {
    Priority priority = thread->own_priority;
    Urgency* urgency = thread->urgency;
    if (Debts* const debts = thread->debts; debts != nullptr) {
      urgency = debts->own_urgency;
      std::chrono::nanoseconds earliest = latest_start_of(urgency);
      const Obligation* most_urgent = nullptr;
      for (const Obligation* debt = debts->first; debt != nullptr; debt = debt->next_) {
        priority = std::max(priority, debt->priority_);
        if (debt->latest_start_ >= earliest) continue;
        earliest = debt->latest_start_;
        most_urgent = debt;
      }
      if (most_urgent != nullptr) urgency = debts->inherit(earliest, most_urgent->horizon_, thread->urgency);
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
