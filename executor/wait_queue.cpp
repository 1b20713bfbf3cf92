#include <bide/executor/wait_queue.hpp>

namespace bide {

void QueuedWait::withdraw() noexcept { queue_->remove(*this); }

GreenThread* QueuedWait::rank_changed() { return queue_->move_to_its_class(*this); }

void QueuedWait::park_in(WaitQueue& queue, Frame& frame) {
  queue_ = &queue;
  queue.add(*this);
  park(frame);
}

QueuedWait* WaitQueue::first() const {
  for (std::size_t of_class = priority_count; of_class-- > 0;) {
    if (lists_[of_class].first != nullptr) return lists_[of_class].first;
  }
  return nullptr;
}

QueuedWait* WaitQueue::take_first() {
  QueuedWait* const wait = first();
  if (wait != nullptr) remove(*wait);
  return wait;
}

void WaitQueue::add(QueuedWait& wait) {
  wait.sequence_ = next_sequence_++;
  link(wait);
  ++size_;
  if (obligation_ == nullptr) return;
  if (starts_before(wait.thread()->urgency, urgency_)) urgency_ = wait.thread()->urgency;
  tell_obligation();
}

void WaitQueue::remove(QueuedWait& wait) noexcept {
  unlink(wait);
  --size_;
  if (obligation_ == nullptr) return;
  if (urgency_ != nullptr && wait.thread()->urgency == urgency_) find_urgency();
  tell_obligation();
}

// Nearly always at the end: only one that has changed class is older than those it joins.
void WaitQueue::link(QueuedWait& wait) {
  wait.priority_ = wait.thread()->rank;
  List& list = lists_[static_cast<std::size_t>(wait.priority_)];
  QueuedWait* before = list.last;
  while (before != nullptr && before->sequence_ > wait.sequence_) before = before->previous_;
  wait.previous_ = before;
  wait.next_ = before != nullptr ? before->next_ : list.first;
  (before != nullptr ? before->next_ : list.first) = &wait;
  (wait.next_ != nullptr ? wait.next_->previous_ : list.last) = &wait;
}

void WaitQueue::unlink(QueuedWait& wait) {
  List& list = lists_[static_cast<std::size_t>(wait.priority_)];
  (wait.previous_ != nullptr ? wait.previous_->next_ : list.first) = wait.next_;
  (wait.next_ != nullptr ? wait.next_->previous_ : list.last) = wait.previous_;
}

GreenThread* WaitQueue::move_to_its_class(QueuedWait& wait) {
  unlink(wait);
  link(wait);
  if (obligation_ == nullptr) return nullptr;
  find_urgency();
  return obligation_->note_demand(first()->priority_, urgency_);
}

void WaitQueue::find_urgency() {
  urgency_ = nullptr;
  for_each([this](QueuedWait& wait) {
    if (starts_before(wait.thread()->urgency, urgency_)) urgency_ = wait.thread()->urgency;
  });
}

void WaitQueue::tell_obligation() {
  if (empty()) {
    obligation_->nobody_waits();
  } else {
    obligation_->demand(first()->priority_, urgency_);
  }
}

}  // namespace bide
