#pragma once

// What the executor is held against: coroutines written by hand for one measurement, with no library under
// them. The practical limit of this machine and compiler, in the same run.

#include <array>
#include <bit>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <vector>

namespace bide::bench {

/// Four first-in-first-out rings of coroutines and a bitmap of those that hold one.
class RawBuckets {
 public:
  explicit RawBuckets(std::size_t capacity) {
    for (Ring& ring : rings_) ring.slots.resize(std::bit_ceil(capacity));
  }
  void push(std::size_t bucket, std::coroutine_handle<> coroutine) {
    Ring& ring = rings_[bucket];
    ring.slots[ring.tail++ & (ring.slots.size() - 1)] = coroutine;
    occupied_ |= 1U << bucket;
  }
  void run() {
    while (occupied_ != 0) {
      const auto highest = static_cast<std::size_t>(std::bit_width(occupied_)) - 1;
      Ring& ring = rings_[highest];
      const std::coroutine_handle<> next = ring.slots[ring.head++ & (ring.slots.size() - 1)];
      if (ring.head == ring.tail) occupied_ &= ~(1U << highest);
      next.resume();
    }
  }

 private:
  struct Ring {
    std::vector<std::coroutine_handle<>> slots;
    std::size_t head = 0;
    std::size_t tail = 0;
  };
  std::array<Ring, 4> rings_;
  unsigned occupied_ = 0;
};

/// `co_await RawYield(buckets, bucket)`: to the back of the bucket.
struct RawYield {
  RawBuckets& buckets;
  std::size_t bucket;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const { buckets.push(bucket, self); }
  void await_resume() const noexcept {}
};

/// A coroutine that its first resume starts and that destroys itself at its end.
struct RawDetached {
  struct promise_type {
    RawDetached get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<> handle;
};

/// Gives the frames of one coroutine, so of one size, off a free list.
template <class Coroutine>
struct RawFrames {
  static void* operator new(std::size_t bytes) {
    if (free_frame == nullptr) return ::operator new(bytes);
    void* const frame = free_frame;
    free_frame = *static_cast<void**>(frame);
    return frame;
  }
  static void operator delete(void* frame) {
    *static_cast<void**>(frame) = free_frame;
    free_frame = frame;
  }
  static inline void* free_frame = nullptr;
};

/// As RawDetached, with a free list. For one coroutine.
struct RawPooled {
  struct promise_type : RawFrames<RawPooled> {
    RawPooled get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<> handle;
};

/// A child that returns an int and goes on with its parent by symmetric transfer. For one coroutine.
class RawChild {
 public:
  struct promise_type : RawFrames<RawChild> {
    RawChild get_return_object() {
      return RawChild(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Return {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().parent;
      }
      void await_resume() noexcept {}
    };
    Return final_suspend() noexcept { return {}; }
    void return_value(int result) { value = result; }
    void unhandled_exception() { std::terminate(); }

    std::coroutine_handle<> parent;
    int value = 0;
  };

  explicit RawChild(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  RawChild(const RawChild&) = delete;
  RawChild& operator=(const RawChild&) = delete;
  ~RawChild() { handle_.destroy(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
    handle_.promise().parent = parent;
    return handle_;
  }
  int await_resume() { return handle_.promise().value; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace bide::bench
