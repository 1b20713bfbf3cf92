#pragma once

// What sleeping in virtual time is held against: coroutines in a 4-ary heap of (instant, sequence), by hand.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bide::bench {

class RawSleepers {
 public:
  std::int64_t now() const { return now_; }
  void push(std::int64_t instant, std::coroutine_handle<> coroutine) {
    const Entry entry{instant, sequence_++, coroutine};
    std::size_t place = heap_.size();
    heap_.push_back(entry);
    for (; place > 0 && before(entry, heap_[(place - 1) / 4]); place = (place - 1) / 4) {
      heap_[place] = heap_[(place - 1) / 4];
    }
    heap_[place] = entry;
  }
  void run() {
    while (!heap_.empty()) {
      const Entry first = heap_.front();
      const Entry last = heap_.back();
      heap_.pop_back();
      if (!heap_.empty()) sink(last);
      now_ = first.instant;
      first.coroutine.resume();
    }
  }

 private:
  struct Entry {
    std::int64_t instant;
    std::uint64_t sequence;
    std::coroutine_handle<> coroutine;
  };

  static bool before(const Entry& a, const Entry& b) {
    return a.instant != b.instant ? a.instant < b.instant : a.sequence < b.sequence;
  }
  void sink(const Entry& entry) {
    std::size_t place = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 4 * place + 1) {
      std::size_t least = child;
      const std::size_t end = child + 4 < heap_.size() ? child + 4 : heap_.size();
      for (std::size_t other = child + 1; other < end; ++other)
        if (before(heap_[other], heap_[least])) least = other;
      if (!before(heap_[least], entry)) break;
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = entry;
  }

  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
  std::int64_t now_ = 0;
};

/// `co_await RawSleep(sleepers, duration)`.
struct RawSleep {
  RawSleepers& sleepers;
  std::int64_t duration;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const { sleepers.push(sleepers.now() + duration, self); }
  void await_resume() const noexcept {}
};

}  // namespace bide::bench
