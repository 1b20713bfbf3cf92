// Asio's coroutines and posts: rows A to C.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>

#include <asio.hpp>

#include <bide/bench/allocations.hpp>

namespace {

using asio::awaitable;
using asio::detached;
using asio::io_context;
using asio::use_awaitable;
using bide::bench::CountedAllocations;

constexpr std::int64_t rounds = 1000;
constexpr int one_thread = 1;  // spares Asio its locks where it can

std::int64_t yields_each(std::int64_t threads) { return std::max<std::int64_t>(1'000'000 / threads, 20); }

awaitable<void> yielder(std::int64_t count) {
  const auto executor = co_await asio::this_coro::executor;
  for (; count > 0; --count) co_await asio::post(executor, use_awaitable);
}

void A_yield(benchmark::State& state) {
  const CountedAllocations allocations(state);
  const std::int64_t threads = state.range(0);
  const std::int64_t each = yields_each(threads);
  while (state.KeepRunningBatch(threads * each)) {
    state.PauseTiming();
    io_context context(one_thread);
    for (std::int64_t i = 0; i < threads; ++i) asio::co_spawn(context, yielder(each), detached);
    state.ResumeTiming();
    context.run();
  }
}

awaitable<int> child(int value) { co_return value; }

awaitable<void> awaits_children(std::int64_t count) {
  for (int i = 0; i < count; ++i) benchmark::DoNotOptimize(co_await child(i));
}

void B_await_child(benchmark::State& state) {
  const CountedAllocations allocations(state);
  io_context context(one_thread);
  while (state.KeepRunningBatch(rounds)) {
    asio::co_spawn(context, awaits_children(rounds), detached);
    context.restart();
    context.run();
  }
}

awaitable<void> nothing() { co_return; }

void B_submit_detached(benchmark::State& state) {
  const CountedAllocations allocations(state);
  io_context context(one_thread);
  while (state.KeepRunningBatch(rounds)) {
    for (std::int64_t i = 0; i < rounds; ++i) asio::co_spawn(context, nothing(), detached);
    context.restart();
    context.run();
  }
}

awaitable<void> submits_and_joins(std::int64_t count) {
  const auto executor = co_await asio::this_coro::executor;
  for (int i = 0; i < count; ++i) {
    const int value = co_await asio::co_spawn(executor, child(i), use_awaitable);
    benchmark::DoNotOptimize(value);
  }
}

void B_submit_join(benchmark::State& state) {
  const CountedAllocations allocations(state);
  io_context context(one_thread);
  while (state.KeepRunningBatch(rounds)) {
    asio::co_spawn(context, submits_and_joins(rounds), detached);
    context.restart();
    context.run();
  }
}

struct Repost {
  io_context& context;
  std::int64_t& left;

  void operator()() const {
    if (left == 0) return;
    --left;
    asio::post(context, Repost{context, left});
  }
};

void C_post(benchmark::State& state) {
  const CountedAllocations allocations(state);
  const std::int64_t posts = state.range(0) * 100;
  while (state.KeepRunningBatch(posts)) {
    io_context context(one_thread);
    std::int64_t left = posts;
    for (std::int64_t i = 0; i < state.range(0); ++i) asio::post(context, Repost{context, left});
    context.run();
  }
}

void C_post_outside(benchmark::State& state) {
  const CountedAllocations allocations(state);
  io_context context;
  const std::int64_t depth = state.range(0);
  std::int64_t done = 0;
  while (state.KeepRunningBatch(depth)) {
    for (std::int64_t i = 0; i < depth; ++i) asio::post(context, [&done] { ++done; });
    context.restart();
    context.run();
  }
  benchmark::DoNotOptimize(done);
}

BENCHMARK(A_yield)->RangeMultiplier(10)->Range(1, 1'000'000);
BENCHMARK(B_await_child);
BENCHMARK(B_submit_detached);
BENCHMARK(B_submit_join);
BENCHMARK(C_post)->Arg(1000);
BENCHMARK(C_post_outside)->Arg(1000);

}  // namespace
