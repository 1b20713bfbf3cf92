#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <bide/executor/frame_pool.hpp>
#include <bide/executor/green_thread.hpp>

namespace bide {

class Driver;

/// Where a posted function lives: the frame pool belongs to one OS thread, so what crosses does not use it.
enum class PostedFrom : std::uint8_t { same_thread, other_thread };

/// A function given to `post`, as the run queue holds it: run once, or dropped.
template <class F, PostedFrom from>
class PostedCall final : public Runnable {
 public:
  static Runnable* make(F&& function, Priority priority) {
    void* memory = allocate();
    try {
      return ::new (memory) PostedCall(std::move(function), priority);
    } catch (...) {
      release(memory);
      throw;
    }
  }

 private:
  static_assert(alignof(F) <= alignof(std::max_align_t));

  PostedCall(F&& function, Priority wanted)
      : Runnable(wanted, &PostedCall::finish), function_(std::move(function)) {
    require(wanted <= Priority::critical, "a post has a class that there is not");
  }

  static void* allocate() {
    if constexpr (from == PostedFrom::other_thread) return ::operator new(sizeof(PostedCall));
    return frame_pool.allocate(sizeof(PostedCall));
  }
  static void release(void* memory) {
    if constexpr (from == PostedFrom::other_thread) return ::operator delete(memory);
    frame_pool.release(memory, sizeof(PostedCall));
  }

  // The memory is free again before the function runs: what it posts itself finds that block warm.
  static void finish(Runnable& self, Disposal disposal) {
    F function = take(static_cast<PostedCall&>(self));
    if (disposal == Disposal::run) function();
  }
  static F take(PostedCall& self) {
    struct Free {  // also when the move throws
      PostedCall& posted;
      ~Free() {
        posted.~PostedCall();
        release(&posted);
      }
    } free{self};
    return std::move(self.function_);
  }

  F function_;
};

/// What other OS threads share with one executor: the posts that it has not seen yet, and the way to wake it.
///
/// Everything else of an executor belongs to one OS thread. Outlives the executor while a Poster is left.
class PostBox {
 public:
  PostBox() = default;
  ~PostBox();
  PostBox(const PostBox&) = delete;
  PostBox& operator=(const PostBox&) = delete;

  /// False: the executor is gone, and the function was dropped.
  bool push(std::uint64_t source, Runnable* call);

  /// True when there are posts to take. Cheap: one atomic load.
  bool pending() const { return pending_.load(std::memory_order_acquire); }

  /// The posts so far, by (source, order within the source), appended to `out`.
  void take(std::vector<Runnable*>& out);

  /// Makes `pending` true, and wakes the executor: something has ended elsewhere. From any OS thread.
  void nudge();

  /// Blocks the calling OS thread until a post is pending or `longest` of real time has passed.
  void wait(Duration longest);

  /// The same within the driver, which also waits for the outside, and watches `wake_descriptor`.
  void wait_in(Driver& driver, Duration longest);

  /// An eventfd that becomes readable when a post comes while the executor waits in a driver. Made at the first call,
  /// closed with the box: no post can meet a closed one. Throws: std::system_error.
  int wake_descriptor();

  /// No post is taken any more; what is left is dropped. Nudges still come.
  void close();

  std::uint64_t next_source() { return ++sources_; }

 private:
  void wake_up();

  struct Item {
    std::uint64_t source;
    std::uint64_t number;  // of the post, over all sources: keeps the order within one
    Runnable* call;
  };

  std::mutex mutex_;
  std::vector<Item> items_;  // guarded by mutex_, as are the next two
  std::uint64_t posts_ = 0;
  bool closed_ = false;
  std::atomic<bool> pending_ = false;
  // A futex, too.
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t in_futex = 1;
  static constexpr std::uint32_t in_driver = 2;
  std::atomic<std::uint32_t> asleep_ = awake;
  int wake_descriptor_ = -1;  // set before the executor is ever `in_driver`
  std::vector<Item> taken_;   // the executor's OS thread only, as is sources_
  std::uint64_t sources_ = 0;
};

/// Runs functions on an executor from other OS threads, for as long as one likes: unlike a reference to the
/// executor it may outlive it.
///
/// Order: posts of one Poster run in the order of their calls; in one look at the outside, those of the
///        Poster made first go first. Copies are the same source.
/// Threads: safe from any, also while the executor ends.
class Poster {
 public:
  /// Runs `function()` on the executor, at the back of `priority`. False: the executor is gone, and the function
  /// was destroyed without a call.
  template <class F>
  bool post(F function, Priority priority = Priority::normal) const {
    require(box_ != nullptr, "a Poster posts that was moved away");
    return box_->push(source_, PostedCall<F, PostedFrom::other_thread>::make(std::move(function), priority));
  }

 private:
  friend Executor;
  Poster(std::shared_ptr<PostBox> box, std::uint64_t source) : box_(std::move(box)), source_(source) {}

  std::shared_ptr<PostBox> box_;
  std::uint64_t source_;
};

}  // namespace bide
