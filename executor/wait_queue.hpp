#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <bide/executor/obligation.hpp>
#include <bide/executor/wait.hpp>

namespace bide {

class WaitQueue;

/// A wait in a WaitQueue: the base of the awaiters of Mutex, Semaphore, Channel and of your own primitives.
///
/// `await_suspend` calls `park_in(queue, frame)`; who serves the waiter takes it off the queue and calls
/// `wake`. Such an awaiter also works as an arm of a select.
class QueuedWait : public Wait {
 public:
  void withdraw() noexcept override;
  GreenThread* rank_changed() override;

 protected:
  explicit QueuedWait(std::source_location where) : Wait(where) {}
  ~QueuedWait() = default;

  void park_in(WaitQueue& queue, Frame& frame);

  /// Still waits: it was neither served nor withdrawn.
  bool queued() const { return queue_ != nullptr; }

 private:
  friend class WaitQueue;

  // The rest is the queue's, and has no value before the wait is in one.
  Priority priority_;
  WaitQueue* queue_ = nullptr;
  QueuedWait* next_;
  QueuedWait* previous_;
  std::uint64_t sequence_;
};

/// Threads that wait for the same thing, in the order in which they get it: higher class first, then who came
/// first. One mechanism under every primitive.
///
/// A waiter whose class changes, by inheritance, moves to its place by the time at which it came.
/// With an Obligation, whoever holds the thing runs at the rank of the most urgent waiter.
/// Destroyed with waiters: a programmer error during a run. Outside of one, as after a Deadlock, the waiters
/// stay suspended, and reports say that what they wait for is gone.
/// Cost: add, take and remove O(1); a change of class O(waiters of the new class); with an Obligation and
/// deadlines, taking the waiter with the earliest is O(waiters). No allocation.
class WaitQueue {
 public:
  /// `held`: what the waiters wait for has a holder. Must outlive the queue.
  explicit WaitQueue(Obligation* held = nullptr) : obligation_(held) {}
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;
  ~WaitQueue() {
    if (!empty()) [[unlikely]]
      abandon();
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// Who goes first; nullptr when empty.
  QueuedWait* first() const { return first_; }
  /// True when a thread that came now would go before all that wait: there are none, or its class is higher.
  bool would_be_first(const GreenThread& thread) const { return empty() || first_->priority_ < thread.rank; }

  /// Takes the first off. The caller wakes it.
  QueuedWait* take_first() {
    QueuedWait* const wait = first_;
    if (wait != nullptr) remove(*wait);
    return wait;
  }
  void remove(QueuedWait& wait) noexcept {
    --size_;
    unlink(wait);
    wait.queue_ = nullptr;
    if (obligation_ != nullptr) tell_of_removal(wait);
  }

 private:
  friend class QueuedWait;
  struct List {
    QueuedWait* first = nullptr;
    QueuedWait* last = nullptr;
  };

  void add(QueuedWait& wait) {
    wait.queue_ = this;
    wait.sequence_ = next_sequence_++;
    link(wait);
    ++size_;
    if (obligation_ != nullptr) tell_of_addition(wait);
  }
  // Nearly always at the end: only one that has changed class is older than those it joins.
  void link(QueuedWait& wait) {
    wait.priority_ = wait.thread()->rank;
    List& list = lists_[static_cast<std::size_t>(wait.priority_)];
    if (first_ == nullptr) {
      wait.next_ = wait.previous_ = nullptr;
      first_ = list.first = list.last = &wait;
      return;
    }
    QueuedWait* before = list.last;
    while (before != nullptr && before->sequence_ > wait.sequence_) before = before->previous_;
    wait.previous_ = before;
    wait.next_ = before != nullptr ? before->next_ : list.first;
    (before != nullptr ? before->next_ : list.first) = &wait;
    (wait.next_ != nullptr ? wait.next_->previous_ : list.last) = &wait;
    if (before == nullptr && first_->priority_ <= wait.priority_) first_ = &wait;
  }
  void unlink(QueuedWait& wait) {
    List& list = lists_[static_cast<std::size_t>(wait.priority_)];
    if (size_ == 0) {  // it was the only one
      first_ = list.first = list.last = nullptr;
      return;
    }
    (wait.previous_ != nullptr ? wait.previous_->next_ : list.first) = wait.next_;
    (wait.next_ != nullptr ? wait.next_->previous_ : list.last) = wait.previous_;
    if (first_ == &wait) first_ = wait.next_ != nullptr ? wait.next_ : first_below(wait.priority_);
  }
  QueuedWait* first_below(Priority priority) const {
    for (auto of_class = static_cast<std::size_t>(priority); of_class-- > 0;) {
      if (lists_[of_class].first != nullptr) return lists_[of_class].first;
    }
    return nullptr;
  }

  GreenThread* move_to_its_class(QueuedWait& wait);
  void tell_of_addition(const QueuedWait& wait);
  void tell_of_removal(const QueuedWait& wait);
  void find_urgency();
  void abandon();

  QueuedWait* first_ = nullptr;
  std::size_t size_ = 0;
  std::array<List, priority_count> lists_;
  std::uint64_t next_sequence_ = 0;
  Obligation* obligation_;
  Urgency urgency_;  // of the waiter that has to start first; with an obligation only
};

inline void QueuedWait::park_in(WaitQueue& queue, Frame& frame) {
  park(frame);
  queue.add(*this);
}

}  // namespace bide
