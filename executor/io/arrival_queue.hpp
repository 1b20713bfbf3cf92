#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace bide {

/// What has come from the kernel and nobody took yet, first in, first out.
///
/// Cost: no allocation while no more than half the room are there; the room grows where more come at once.
template <class Item>
class ArrivalQueue {
 public:
  explicit ArrivalQueue(std::size_t room) { items_.reserve(room); }

  bool empty() const { return first_ == items_.size(); }
  std::size_t size() const { return items_.size() - first_; }
  Item& front() { return items_[first_]; }
  Item& back() { return items_.back(); }

  Item pop() {
    Item item = std::move(items_[first_++]);
    if (empty()) {
      items_.clear();
      first_ = 0;
    }
    return item;
  }

  /// Returns: false where there is no memory for one more; what is in the queue stays.
  [[nodiscard]] bool push(Item item) noexcept {
    if (items_.size() == items_.capacity() && first_ >= items_.size() / 2) drop_taken();
    try {
      items_.push_back(std::move(item));
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

 private:
  void drop_taken() noexcept {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  std::vector<Item> items_;  // those before first_ are taken
  std::size_t first_ = 0;
};

}  // namespace bide
