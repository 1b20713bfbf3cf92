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
/// `await_suspend` calls `park_in(queue, frame)`; who serves the waiter takes it off the queue and calls `wake`.
class QueuedWait : public Wait {
 public:
  void withdraw() noexcept override;
  GreenThread* rank_changed() override;

 protected:
  explicit QueuedWait(std::source_location where) : Wait(where) {}
  ~QueuedWait() = default;

  void park_in(WaitQueue& queue, Frame& frame);

 private:
  friend class WaitQueue;

  WaitQueue* queue_ = nullptr;
  QueuedWait* next_ = nullptr;
  QueuedWait* previous_ = nullptr;
  std::uint64_t sequence_ = 0;
  Priority priority_ = Priority::normal;
};

/// Threads that wait for the same thing, in the order in which they get it: higher class first, then who came
/// first. One mechanism under every primitive.
///
/// A waiter whose class changes, by inheritance, moves to its place by the time at which it came.
/// With an Obligation, whoever holds the thing runs at the rank of the most urgent waiter.
/// Cost: add, take and remove O(1); a change of class O(waiters of the new class). No allocation.
class WaitQueue {
 public:
  /// `held`: what the waiters wait for has a holder. Must outlive the queue.
  explicit WaitQueue(Obligation* held = nullptr) : obligation_(held) {}
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;
  ~WaitQueue() { require(empty(), "something is destroyed while threads wait for it"); }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// Who goes first; nullptr when empty.
  QueuedWait* first() const;
  /// Takes it off. The caller wakes it.
  QueuedWait* take_first();
  void remove(QueuedWait& wait) noexcept;

  /// Calls `visit(wait)` for each, in order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t of_class = priority_count; of_class-- > 0;) {
      for (QueuedWait* wait = lists_[of_class].first; wait != nullptr; wait = wait->next_) visit(*wait);
    }
  }

 private:
  friend class QueuedWait;
  struct List {
    QueuedWait* first = nullptr;
    QueuedWait* last = nullptr;
  };

  void add(QueuedWait& wait);
  void link(QueuedWait& wait);
  void unlink(QueuedWait& wait);
  GreenThread* move_to_its_class(QueuedWait& wait);
  void find_urgency();
  void tell_obligation();

  std::array<List, priority_count> lists_;
  std::size_t size_ = 0;
  std::uint64_t next_sequence_ = 0;
  Obligation* obligation_;
  Urgency* urgency_ = nullptr;  // of the waiter that has to start first; with an obligation only
};

}  // namespace bide
