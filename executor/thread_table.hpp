#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <bide/executor/green_thread.hpp>

namespace bide {

/// The live threads of an executor, in no order. Each knows its place, so it leaves without a search.
class ThreadTable {
 public:
  ThreadTable() = default;
  ThreadTable(const ThreadTable&) = delete;
  ThreadTable& operator=(const ThreadTable&) = delete;
  ~ThreadTable() { delete[] slots_; }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool full() const { return size_ == capacity_; }
  GreenThread* const* begin() const { return slots_; }
  GreenThread* const* end() const { return slots_ + size_; }

  /// Requires: not full.
  void add(GreenThread& thread) {
    thread.table_index = size_;
    slots_[size_++] = &thread;
  }
  void remove(GreenThread& thread) {
    GreenThread* const last = slots_[--size_];
    slots_[thread.table_index] = last;
    last->table_index = thread.table_index;
  }

  /// In the order in which they were submitted, until one is removed. Needs no memory.
  void sort_by_id() {
    std::sort(slots_, slots_ + size_, [](const auto* a, const auto* b) { return a->id < b->id; });
    for (std::uint32_t place = 0; place < size_; ++place) slots_[place]->table_index = place;
  }

  /// Throws: std::bad_alloc, and nothing has changed.
  void grow() {
    require(capacity_ < std::uint32_t{1} << 31U, "more threads than an executor can hold");
    const std::uint32_t capacity = capacity_ == 0 ? 16 : capacity_ * 2;
    auto* const slots = new GreenThread*[capacity];
    std::copy(begin(), end(), slots);
    delete[] slots_;
    slots_ = slots;
    capacity_ = capacity;
  }

 private:
  GreenThread** slots_ = nullptr;  // executor/gdb/bide.py reads it
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace bide
