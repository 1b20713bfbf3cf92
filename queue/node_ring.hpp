#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <bide/queue/queue_node.hpp>

namespace bide {

/// The nodes of one class in order of sequence: a ring of pointers that can lose nodes from its middle.
///
/// Invariants:
/// 1. `slots_[p & mask_]` for p in [head_, tail_) is a node at position p, or null where one was removed.
/// 2. First and last slot of that range are nodes: the ring is empty when head_ == tail_.
/// 3. `holes_` counts the nulls in the range.
///
/// Positions are absolute and wrap at 2^32; they begin just below the wrap, so that every run crosses it.
class alignas(32) NodeRing {  // a size that an index is shifted by, not multiplied
 public:
  NodeRing() = default;
  NodeRing(NodeRing&& other) noexcept { swap(other); }
  NodeRing& operator=(NodeRing&& other) noexcept {
    NodeRing(std::move(other)).swap(*this);
    return *this;
  }

  bool empty() const { return head_ == tail_; }
  /// Requires: not empty.
  QueueNode* front() const { return slots_[head_ & mask_]; }
  /// Requires: not empty.
  QueueNode* back() const { return slots_[(tail_ - 1) & mask_]; }
  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return tail_ - head_ - holes_; }

  bool full() const { return tail_ - head_ == capacity_; }

  /// Throws: std::bad_alloc, and nothing has changed.
  /// Cost:   O(1), amortised over growth.
  void push_back(QueueNode& node) {
    if (full()) [[unlikely]]
      make_room();
    append(node);
  }
  /// Requires: not full.
  void append(QueueNode& node) {
    node.position = tail_;
    slots_[tail_++ & mask_] = &node;
  }

  /// Requires: not empty.
  QueueNode* pop_front() {
    // Among many nodes each is a cache miss, which takes as long as a dozen pops: ask for a node early.
    constexpr std::uint32_t prefetch_distance = 16;
    if (tail_ - head_ > prefetch_distance) __builtin_prefetch(slots_[(head_ + prefetch_distance) & mask_], 1);
    QueueNode* const node = slots_[head_++ & mask_];
    if (holes_ != 0) [[unlikely]]
      trim();
    return node;
  }

  /// Requires: the node is in this ring.
  /// Cost:     O(1), amortised; no allocation.
  void remove(const QueueNode& node) {
    slots_[node.position & mask_] = nullptr;
    ++holes_;
    trim();
  }

  /// Calls `visit(node)` for each, in order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t position = head_; position != tail_; ++position)
      if (QueueNode* const node = slots_[position & mask_]) visit(node);
  }

  /// Makes the next push_back free of allocation.
  void make_room();
  /// Holds `count` nodes before it has to grow.
  void reserve(std::size_t count);
  void swap(NodeRing& other) noexcept;

 private:
  static constexpr std::uint32_t first_position = 0xffff'fff0U;

  void trim() {
    while (head_ != tail_ && slots_[head_ & mask_] == nullptr) ++head_, --holes_;
    while (head_ != tail_ && slots_[(tail_ - 1) & mask_] == nullptr) --tail_, --holes_;
  }
  void close_holes();
  void grow_to(std::size_t capacity);

  std::unique_ptr<QueueNode*[]> slots_;
  std::uint32_t capacity_ = 0;
  std::uint32_t mask_ = 0;  // capacity_ - 1, but 0 for 0
  std::uint32_t head_ = first_position;
  std::uint32_t tail_ = first_position;
  std::uint32_t holes_ = 0;
};

}  // namespace bide
