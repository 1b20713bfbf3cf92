#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bide/queue/indexed_heap.hpp>
#include <bide/queue/node_ring.hpp>
#include <bide/queue/order.hpp>
#include <bide/queue/queue_node.hpp>
#include <bide/queue/require.hpp>

namespace bide {

/// Who goes first: the order of queue/order.hpp over nodes that belong to others.
///
/// A class has two lanes: nodes without a deadline by sequence, nodes with one by (latest start, sequence). What comes
/// in the order of its lane lies in a ring, the rest in a heap, and the lane's head is the first of the two.
/// The heads of the lanes are ranked, and the first of them is popped. So within a lane a node that waits
/// behind another never overtakes it, whatever its score.
///
/// Reads no clock: `now` is the caller's, in the unit and epoch of the nodes' Urgency. Not for two threads.
/// Cost: nothing allocates once the arrays have grown. A call that would have to, and can't, throws
///       std::bad_alloc and has changed nothing.
class RunQueue {
 public:
  struct Options {
    /// After every pop of this number, counted from 1, the queued node with the smallest sequence among those
    /// below `high` rises one class and keeps its sequence. 0: never. A pop that found nothing does not
    /// count.
    std::uint64_t promote_every = 0;
    Aging aging = Aging::off;
  };

  /// The heads of the lanes, first to go first; for a log that tells why.
  struct Heads {
    struct Head {
      const QueueNode* node = nullptr;
      urgency::Score score = 0;
    };
    std::array<Head, 2 * priority_count> entries;
    std::size_t count = 0;

    const Head* begin() const { return entries.data(); }
    const Head* end() const { return entries.data() + count; }
  };

  RunQueue() : RunQueue(Options{}) {}
  explicit RunQueue(Options options);
  /// The other queue is left empty and new, with its options.
  RunQueue(RunQueue&& other) noexcept;
  RunQueue& operator=(RunQueue&& other) noexcept;

  bool empty() const {
    if (occupied_ != 0 && !rings_[highest_occupied()].empty()) return false;
    return (occupied_ == 0 && reasons_to_compare_ == 0) || size() == 0;
  }
  std::size_t size() const {
    std::size_t size = in_other_lanes();
    for (const NodeRing& ring : rings_) size += ring.size();
    return size;
  }
  /// What the next push gives its node. Starts at 0; 64 bits never wrap.
  std::uint64_t next_sequence() const { return next_sequence_; }

  /// Queues the node at the back of its class, or by its deadline, with a fresh sequence.
  ///
  /// Requires: the node is in no queue.
  /// Cost:     O(1) without a deadline, O(log n) with one.
  void push(QueueNode& node) {
    if (node.urgency != nullptr || node.queued() || rings_[index(node.priority)].full()) [[unlikely]]
      return push_with_care(node);
    push_plain(node);
  }

  /// Queues the node in the place that the sequence which it has gives it: for whoever gives sequences itself, over
  /// several queues, or puts back what it has popped.
  ///
  /// Requires: the node is in no queue; no node of this one has its sequence.
  /// Cost:     as push where its sequence is greater than all of its class, else O(log n).
  void push_in_place(QueueNode& node);

  /// push, for a node without a deadline whose class has room: no call, and nothing to undo.
  void push_plain(QueueNode& node) {
    rings_[index(node.priority)].append(node);
    node.sequence = next_sequence_++;
    node.lane = Lane::fifo;
    note_occupied(node.priority);
  }
  /// A node of the class, without a deadline, can be pushed without an allocation, as can `count` in all.
  bool has_room(Priority priority, std::size_t count) const {
    const NodeRing& ring = rings_[index(priority)];
    return count <= ring.capacity() && !ring.full();
  }

  /// Takes out the node that goes first, then promotes if it is time to.
  ///
  /// Returns: null when empty.
  /// Cost:    O(1) while all that is queued is plain: no deadline, nothing promoted or re-ranked into the
  ///          middle of a class, aging and promotion off. Else O(log n).
  QueueNode* pop(std::chrono::nanoseconds now) {
    if (reasons_to_compare_ != 0) [[unlikely]]
      return pop_best(now);
    while (occupied_ != 0) {
      const unsigned highest = highest_occupied();
      NodeRing& ring = rings_[highest];
      if (!ring.empty()) [[likely]] {
        QueueNode* const node = ring.pop_front();
        node->lane = Lane::none;
        return node;
      }
      occupied_ ^= 1U << highest;
    }
    return nullptr;
  }

  /// What pop would return.
  const QueueNode* peek(std::chrono::nanoseconds now) const { return best(now); }

  struct Popped {
    QueueNode* node = nullptr;
    const QueueNode* next = nullptr;  // what peek at the same instant returns now
  };
  /// pop and then peek, for less than both.
  Popped pop_with_next(std::chrono::nanoseconds now);

  /// Withdraws the node from wherever it is. Requires: it is in this queue.
  void remove(QueueNode& node);

  /// Changes class and urgency; the sequence, and with it the place among equals, stays.
  /// A node that is not queued just takes the values.
  void rerank(QueueNode& node, Priority priority, Urgency* urgency);

  /// Takes out any node, for teardown: in an order that is the same every time but means nothing.
  /// Counts for no promotion. Returns: null when empty.
  QueueNode* pop_any();

  /// Withdraws all nodes.
  void clear();

  /// Lets `count` nodes like this one, of its class and with or without a deadline, be pushed before a push
  /// allocates.
  void reserve(const QueueNode& like, std::size_t count) {
    if (like.has_deadline()) [[unlikely]] {
      on_time_[index(like.priority)].reserve(count);
      return deadline_[index(like.priority)].reserve(count);
    }
    NodeRing& ring = rings_[index(like.priority)];
    if (count > ring.capacity()) ring.reserve(count);
  }

  Heads heads(std::chrono::nanoseconds now) const;

  /// The nodes among which only the sequence decides who is popped next, in order of it: the first of them goes
  /// first, and the others are its equals. For a test that tries other orders; O(n log n).
  void equals(std::chrono::nanoseconds now, std::vector<QueueNode*>& out) const;

 private:
  struct LateEntry {
    std::uint64_t sequence;
    QueueNode* node;
    bool before(const LateEntry& other) const { return sequence < other.sequence; }
  };
  /// Without the sequence, which only ties need: 24 bytes sift a third faster than 32.
  struct DeadlineEntry {
    std::chrono::nanoseconds latest_start;
    QueueNode* node;
    std::uint32_t age_position;  // in by_age_, for a class that can be promoted
    bool before(const DeadlineEntry& other) const {
      if (latest_start != other.latest_start) return latest_start < other.latest_start;
      return node->sequence < other.node->sequence;
    }
  };

  /// One that heads its lane, or none.
  struct Head {
    static constexpr urgency::Score unknown = -1;
    QueueNode* node = nullptr;
    urgency::Score score = unknown;  // computed when there is need
  };
  /// Lanes by their classes, a bit for each.
  struct LaneSet {
    std::uint32_t by_sequence;
    std::uint32_t by_deadline;

    std::uint32_t all() const { return by_sequence | by_deadline; }
    bool empty() const { return all() == 0; }
  };

  static constexpr std::size_t index(Priority priority) { return static_cast<std::size_t>(priority); }
  static constexpr std::uint32_t bit(Priority priority) { return 1U << index(priority); }
  static constexpr Priority highest(std::uint32_t classes) {
    return static_cast<Priority>(std::bit_width(classes) - 1);
  }
  static constexpr bool promotable(Priority priority) { return priority < Priority::high; }

  // With a branch, so that the next pop does not have to wait for a store that is hardly ever needed.
  void note_occupied(Priority priority) {
    if ((occupied_ & bit(priority)) == 0) [[unlikely]]
      occupied_ |= bit(priority);
  }
  // One bsr. Requires: one is.
  unsigned highest_occupied() const { return static_cast<unsigned>(std::countl_zero(occupied_)) ^ 31U; }
  bool always_compares() const { return options_.promote_every != 0 || options_.aging == Aging::on; }
  std::size_t in_other_lanes() const { return reasons_to_compare_ - (always_compares() ? 1 : 0); }
  QueueNode* pop_best(std::chrono::nanoseconds now);
  QueueNode* best(std::chrono::nanoseconds now) const;
  QueueNode* plain_head(std::size_t of_class) const;
  QueueNode* deadline_head(std::size_t of_class) const;
  urgency::Score score_of(Head& head, std::chrono::nanoseconds now) const;
  bool leads(Head& left, Head& right, std::chrono::nanoseconds now) const;
  bool beats(Head& head, LaneSet lanes, std::chrono::nanoseconds now) const;
  template <class Consider>
  void consider_highest(LaneSet& lanes, Consider consider) const;
  bool comes_on_time(const QueueNode& node) const;
  static void take_out(NodeRing& ring, QueueNode& node);
  QueueNode* oldest_promotable() const;
  void promote();
  void push_with_care(QueueNode& node);
  void make_room(Priority priority, const Urgency* urgency);
  void link(QueueNode& node);
  void unlink(QueueNode& node);
  void link_by_age(QueueNode& node);
  void unlink_by_age(const QueueNode& node);
  void swap(RunQueue& other) noexcept;

  std::uint64_t next_sequence_ = 0;
  // A bit for each class whose ring or heap by sequence has a node, or had one when pop last looked.
  std::uint32_t occupied_ = 0;
  std::uint32_t deadlines_ = 0;  // a bit for each class that has a node with a deadline
  // Nodes in heaps or with deadlines, and one more if aging or promotion is on: 0 means that the highest ring's front goes
  // first.
  std::size_t reasons_to_compare_ = 0;
  std::array<NodeRing, priority_count> rings_;
  std::array<IndexedHeap<LateEntry>, priority_count> late_;
  std::array<NodeRing, priority_count> on_time_;  // empty while anything is promoted
  std::array<IndexedHeap<DeadlineEntry>, priority_count> deadline_;
  IndexedHeap<LateEntry> by_age_;  // nodes with a deadline that can be promoted; used with promote_every only
  std::uint64_t pops_until_promotion_ = 0;
  Options options_;
};

}  // namespace bide
