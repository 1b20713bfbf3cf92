#pragma once

// What hand-offs are held against: an event and a channel for coroutines of one RawBuckets, by hand, for one waiter.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <bide/bench/raw_coroutines.hpp>

namespace bide::bench {

/// `co_await event`: until the next `set`, which an earlier one may have been.
class RawEvent {
 public:
  explicit RawEvent(RawBuckets& buckets) : buckets_(buckets) {}
  void set() {
    if (waiter_ != nullptr) return buckets_.push(1, std::exchange(waiter_, nullptr));
    is_set_ = true;
  }
  bool await_ready() noexcept { return std::exchange(is_set_, false); }
  void await_suspend(std::coroutine_handle<> self) noexcept { waiter_ = self; }
  void await_resume() const noexcept {}

 private:
  RawBuckets& buckets_;
  std::coroutine_handle<> waiter_;
  bool is_set_ = false;
};

/// A ring of items between one sender and one receiver, who wait at its ends.
class RawChannel {
 public:
  RawChannel(RawBuckets& buckets, std::size_t capacity)
      : items_(capacity), not_full_(buckets), not_empty_(buckets) {}
  bool full() const { return tail_ - head_ == items_.size(); }
  bool empty() const { return tail_ == head_; }
  RawEvent& not_full() { return not_full_; }
  RawEvent& not_empty() { return not_empty_; }
  void push(std::int64_t item) {
    items_[tail_++ & (items_.size() - 1)] = item;
    if (tail_ - head_ == 1) not_empty_.set();
  }
  std::int64_t pop() {
    const bool was_full = full();
    const std::int64_t item = items_[head_++ & (items_.size() - 1)];
    if (was_full) not_full_.set();
    return item;
  }

 private:
  std::vector<std::int64_t> items_;  // a power of two
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  RawEvent not_full_;
  RawEvent not_empty_;
};

}  // namespace bide::bench
