#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace bide {

/// The ring of a channel: memory for a fixed number of items. Who uses it knows how many are in it.
template <class T>
class ChannelBuffer {
 public:
  explicit ChannelBuffer(std::size_t capacity)
      : items_(capacity > 0 ? std::allocator<T>().allocate(capacity) : nullptr), capacity_(capacity) {}
  ChannelBuffer(const ChannelBuffer&) = delete;
  ChannelBuffer& operator=(const ChannelBuffer&) = delete;
  ~ChannelBuffer() {
    if (items_ != nullptr) std::allocator<T>().deallocate(items_, capacity_);
  }

  /// Requires: there is room.
  void push(T&& item) {
    std::construct_at(items_ + back_, std::move(item));
    back_ = after(back_);
  }
  /// Requires: there is an item.
  T& front() { return items_[front_]; }
  void drop() {
    std::destroy_at(items_ + front_);
    front_ = after(front_);
  }

 private:
  std::size_t after(std::size_t place) const { return place + 1 == capacity_ ? 0 : place + 1; }

  T* items_;
  std::size_t capacity_;
  std::size_t front_ = 0;
  std::size_t back_ = 0;
};

}  // namespace bide
