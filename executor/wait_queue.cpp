#include <bide/executor/executor.hpp>
#include <bide/executor/wait_queue.hpp>

namespace bide {

void QueuedWait::withdraw() noexcept {
  if (queued()) queue_->remove(*this);
}

GreenThread* QueuedWait::rank_changed() { return queued() ? queue_->move_to_its_class(*this) : nullptr; }

// The last thing that either of these does is to tell: the change of rank may lead back to this queue.
void WaitQueue::tell_of_addition(const QueuedWait& wait) {
  if (starts_before(wait.thread()->urgency, &urgency_)) urgency_ = *wait.thread()->urgency;
  obligation_->demand(first_->priority_, &urgency_);
}

void WaitQueue::tell_of_removal(const QueuedWait& wait) {
  const Urgency* const urgency = wait.thread()->urgency;
  if (urgency != nullptr && urgency->latest_start <= urgency_.latest_start) find_urgency();
  if (empty()) {
    obligation_->nobody_waits();
  } else {
    obligation_->demand(first_->priority_, &urgency_);
  }
}

GreenThread* WaitQueue::move_to_its_class(QueuedWait& wait) {
  unlink(wait);
  link(wait);
  if (obligation_ == nullptr) return nullptr;
  if (urgency_.latest_start != Urgency::none || wait.thread()->urgency != nullptr) find_urgency();
  return obligation_->note_demand(first_->priority_, &urgency_);
}

void WaitQueue::find_urgency() {
  urgency_ = {};
  for (const List& list : lists_) {
    for (QueuedWait* wait = list.first; wait != nullptr; wait = wait->next_) {
      if (starts_before(wait->thread()->urgency, &urgency_)) urgency_ = *wait->thread()->urgency;
    }
  }
}

// First all leave the queue, so that none is let through in the place of another.
void WaitQueue::abandon() {
  require(!first_->thread()->executor->in_run(), "something is destroyed while threads wait for it");
  for (const List& list : lists_) {
    for (QueuedWait* wait = list.first; wait != nullptr; wait = wait->next_) wait->queue_ = nullptr;
  }
  for (const List& list : lists_) {
    for (QueuedWait* wait = list.first; wait != nullptr; wait = wait->next_) wait->park_for_ever();
  }
  size_ = 0;
  first_ = nullptr;
  if (obligation_ != nullptr) obligation_->nobody_waits();
}

}  // namespace bide
