#include <bide/queue/node_ring.hpp>

#include <algorithm>
#include <bit>

#include <bide/queue/require.hpp>

namespace bide {

void NodeRing::make_room() {
  constexpr std::size_t smallest = 16;
  const std::size_t held = capacity();
  if (tail_ - head_ != held) return;
  // At least half is free after either: the cost is spread over as many pushes as it moved slots.
  if (holes_ != 0 && holes_ >= held / 2) return close_holes();
  grow_to(std::max(smallest, held * 2));
}

void NodeRing::reserve(std::size_t count) {
  if (count > capacity()) grow_to(std::bit_ceil(count));
}

void NodeRing::close_holes() {
  std::uint32_t to = head_;
  for (std::uint32_t from = head_; from != tail_; ++from) {
    QueueNode* const node = slots_[from & mask_];
    if (node == nullptr) continue;
    node->position = to;
    slots_[to++ & mask_] = node;
  }
  tail_ = to;
  holes_ = 0;
}

void NodeRing::grow_to(std::size_t capacity) {
  require(capacity <= std::size_t{1} << 31U, "a run queue holds at most 2^31 nodes of a class");
  auto slots = std::make_unique_for_overwrite<QueueNode*[]>(capacity);  // a large array costs pages when used
  const auto mask = static_cast<std::uint32_t>(capacity - 1);
  for (std::uint32_t position = head_; position != tail_; ++position)
    slots[position & mask] = slots_[position & mask_];
  slots_ = std::move(slots);
  capacity_ = static_cast<std::uint32_t>(capacity);
  mask_ = mask;
}

void NodeRing::swap(NodeRing& other) noexcept {
  std::swap(slots_, other.slots_);
  std::swap(capacity_, other.capacity_);
  std::swap(mask_, other.mask_);
  std::swap(head_, other.head_);
  std::swap(tail_, other.tail_);
  std::swap(holes_, other.holes_);
}

}  // namespace bide
