// What a green thread's steps cost: yield, await, submit, join, post. CPU time is for one operation; the rows
// named `..._raw` do the same by hand, without the library. Gate on ratios within one run, never on absolute
// figures.
//
// Run: executor_bench --benchmark_filter=A_yield

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <bide/bench/allocations.hpp>
#include <bide/bench/raw_coroutines.hpp>
#include <bide/executor/executor.hpp>

namespace {

using namespace bide;
using bench::CountedAllocations;
using bench::RawBuckets;
using bench::RawChild;
using bench::RawDetached;
using bench::RawPooled;
using bench::RawYield;

constexpr std::int64_t rounds = 1000;  // operations a batch, and the depth where a row names none

Executor make_executor() { return Executor({.time = TimeMode::virtual_time}); }

std::int64_t yields_each(std::int64_t threads) { return std::max<std::int64_t>(1'000'000 / threads, 20); }

Task<> yielder(std::int64_t count) {
  for (; count > 0; --count) co_await Yield();
}

// The threads are spread over the four classes; what is timed is the run alone.
void A_yield(benchmark::State& state) {
  const CountedAllocations allocations(state);
  const std::int64_t threads = state.range(0);
  const std::int64_t each = yields_each(threads);
  while (state.KeepRunningBatch(threads * each)) {
    state.PauseTiming();
    Executor executor = make_executor();
    for (std::int64_t i = 0; i < threads; ++i) {
      executor.submit(yielder(each), {.priority = static_cast<Priority>(i % 4)});
    }
    state.ResumeTiming();
    executor.run();
  }
}

RawDetached raw_yielder(RawBuckets& buckets, std::size_t bucket, std::int64_t count) {
  for (; count > 0; --count) co_await RawYield(buckets, bucket);
}

void A_yield_raw(benchmark::State& state) {
  const std::int64_t threads = state.range(0);
  const std::int64_t each = yields_each(threads);
  while (state.KeepRunningBatch(threads * each)) {
    state.PauseTiming();
    RawBuckets buckets(static_cast<std::size_t>(threads));
    for (std::int64_t i = 0; i < threads; ++i) {
      const auto bucket = static_cast<std::size_t>(i % 4);
      buckets.push(bucket, raw_yielder(buckets, bucket, each).handle);
    }
    state.ResumeTiming();
    buckets.run();
  }
}

Task<int> child(int value) { co_return value; }

Task<> awaits_children(std::int64_t count) {
  for (int i = 0; i < count; ++i) benchmark::DoNotOptimize(co_await child(i));
}

void B_await_child(benchmark::State& state) {
  const CountedAllocations allocations(state);
  Executor executor = make_executor();
  while (state.KeepRunningBatch(rounds)) {
    executor.submit(awaits_children(rounds));
    executor.run();
  }
}

RawChild raw_child(int value) { co_return value; }

RawDetached raw_awaits_children(std::int64_t count) {
  for (int i = 0; i < count; ++i) benchmark::DoNotOptimize(co_await raw_child(i));
}

void B_await_child_raw(benchmark::State& state) {
  while (state.KeepRunningBatch(rounds)) raw_awaits_children(rounds).handle.resume();
}

Task<> nothing() { co_return; }

void B_submit_detached(benchmark::State& state) {
  const CountedAllocations allocations(state);
  Executor executor = make_executor();
  while (state.KeepRunningBatch(rounds)) {
    for (std::int64_t i = 0; i < rounds; ++i) executor.submit(nothing());
    executor.run();
  }
}

RawPooled raw_nothing() { co_return; }

void B_submit_detached_raw(benchmark::State& state) {
  RawBuckets buckets(rounds);
  while (state.KeepRunningBatch(rounds)) {
    for (std::int64_t i = 0; i < rounds; ++i) buckets.push(1, raw_nothing().handle);
    buckets.run();
  }
}

Task<> submits_and_joins(std::int64_t count) {
  for (int i = 0; i < count; ++i) {
    Handle<int> handle = submit(child(i));
    benchmark::DoNotOptimize(co_await handle);
  }
}

void B_submit_join(benchmark::State& state) {
  const CountedAllocations allocations(state);
  Executor executor = make_executor();
  while (state.KeepRunningBatch(rounds)) {
    executor.submit(submits_and_joins(rounds));
    executor.run();
  }
}

// Posts itself again, `step` classes on, until `left` posts were made. Two fields of one size: a byte beside the class
// would cost more, in the copy of the two as one word, than the post.
struct Repost {
  Executor& executor;
  std::int64_t& left;
  unsigned step;
  unsigned priority;

  void operator()() const {
    if (left == 0) return;
    --left;
    const Repost again{executor, left, step, (priority + step) % 4};
    executor.post(again, static_cast<Priority>(again.priority));
  }
};

void post_from_inside(benchmark::State& state, std::int64_t depth, unsigned step) {
  const CountedAllocations allocations(state);
  const std::int64_t posts = depth * 100;
  while (state.KeepRunningBatch(posts)) {
    Executor executor = make_executor();
    std::int64_t left = posts;
    for (unsigned i = 0; i < depth; ++i) executor.post(Repost{executor, left, step, i % 4}, Priority::normal);
    executor.run();
  }
}

// From within the run, `depth` posts at a time in the queue.
void C_post(benchmark::State& state) { post_from_inside(state, state.range(0), 0); }
void C_post_4_classes(benchmark::State& state) { post_from_inside(state, rounds, 1); }

/// The least that a post can be: a function and its argument in a ring a class, and a bitmap.
class RawPosts {
 public:
  explicit RawPosts(std::int64_t left, unsigned step) : left_(left), step_(step) {}
  void push(std::size_t ring) {
    rings_[ring].posts[rings_[ring].tail++ % ring_size] = {repost, this, ring};
    occupied_ |= 1U << ring;
  }
  void run() {
    while (occupied_ != 0) {
      const auto highest = static_cast<std::size_t>(std::bit_width(occupied_)) - 1;
      Ring& ring = rings_[highest];
      const Post post = ring.posts[ring.head++ % ring_size];
      if (ring.head == ring.tail) occupied_ &= ~(1U << highest);
      post.function(*post.posts, post.ring);
    }
  }

 private:
  static constexpr std::size_t ring_size = 1024;
  struct Post {
    void (*function)(RawPosts&, std::size_t);
    RawPosts* posts;
    std::size_t ring;  // as wide as its neighbours, so that a copy reads what was just written in one piece
  };
  struct Ring {
    std::array<Post, ring_size> posts;
    std::size_t head = 0;
    std::size_t tail = 0;
  };
  static void repost(RawPosts& posts, std::size_t ring) {
    if (posts.left_ == 0) return;
    --posts.left_;
    posts.push((ring + posts.step_) % 4);
  }

  std::array<Ring, 4> rings_{};
  unsigned occupied_ = 0;
  std::int64_t left_;
  unsigned step_;
};

void post_raw(benchmark::State& state, std::int64_t depth, unsigned step) {
  const std::int64_t count = depth * 100;
  while (state.KeepRunningBatch(count)) {
    RawPosts posts(count, step);
    for (unsigned i = 0; i < depth; ++i) posts.push(1);
    posts.run();
  }
}
void C_post_raw(benchmark::State& state) { post_raw(state, state.range(0), 0); }
void C_post_4_classes_raw(benchmark::State& state) { post_raw(state, rounds, 1); }

// Through the lock and the wake-up that posts of other OS threads take.
void C_post_outside(benchmark::State& state) {
  const CountedAllocations allocations(state);
  Executor executor = make_executor();
  const std::int64_t depth = state.range(0);
  std::int64_t done = 0;
  while (state.KeepRunningBatch(depth)) {
    for (std::int64_t i = 0; i < depth; ++i) executor.post([&done] { ++done; });
    executor.run();
  }
  benchmark::DoNotOptimize(done);
}

BENCHMARK(A_yield)->RangeMultiplier(10)->Range(1, 1'000'000);
BENCHMARK(A_yield_raw)->RangeMultiplier(10)->Range(1, 1'000'000);
BENCHMARK(B_await_child);
BENCHMARK(B_await_child_raw);
BENCHMARK(B_submit_detached);
BENCHMARK(B_submit_detached_raw);
BENCHMARK(B_submit_join);
BENCHMARK(C_post)->Arg(1000);
BENCHMARK(C_post_raw)->Arg(1000);
BENCHMARK(C_post_4_classes);
BENCHMARK(C_post_4_classes_raw);
BENCHMARK(C_post_outside)->Arg(1000);

}  // namespace
