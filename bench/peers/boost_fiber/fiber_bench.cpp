// Fibers with stacks of their own, Boost's: rows A, B and I.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/fiber/all.hpp>

#include <bide/bench/allocations.hpp>
#include <bide/bench/resident_bytes.hpp>

namespace {

namespace fibers = boost::fibers;
using bide::bench::CountedAllocations;

constexpr std::size_t stack_bytes = 16 * 1024;  // the least that its documentation calls enough

std::int64_t yields_each(std::int64_t threads) { return std::max<std::int64_t>(1'000'000 / threads, 20); }

template <class Function>
fibers::fiber start(Function function) {
  return {fibers::launch::post, std::allocator_arg, fibers::fixedsize_stack(stack_bytes), function};
}

// This OS thread's main fiber waits for the others; each first runs to its start.
void A_yield(benchmark::State& state) {
  const CountedAllocations allocations(state);
  const std::int64_t threads = state.range(0);
  const std::int64_t each = yields_each(threads);
  while (state.KeepRunningBatch(threads * each)) {
    state.PauseTiming();
    std::vector<fibers::fiber> all;
    for (std::int64_t i = 0; i < threads; ++i) {
      all.push_back(start([each] {
        for (std::int64_t left = each; left > 0; --left) boost::this_fiber::yield();
      }));
    }
    state.ResumeTiming();
    for (fibers::fiber& one : all) one.join();
  }
}

// Stacks come from a pool, as frames do elsewhere.
void B_submit_join(benchmark::State& state) {
  const CountedAllocations allocations(state);
  fibers::pooled_fixedsize_stack stacks(stack_bytes);
  int value = 0;
  while (state.KeepRunning()) {
    fibers::fiber one(fibers::launch::post, std::allocator_arg, stacks, [&value] { ++value; });
    one.join();
  }
  benchmark::DoNotOptimize(value);
}

void B_submit_detached(benchmark::State& state) {
  constexpr std::int64_t rounds = 1000;
  const CountedAllocations allocations(state);
  fibers::pooled_fixedsize_stack stacks(stack_bytes);
  std::int64_t left = 0;
  while (state.KeepRunningBatch(rounds)) {
    left = rounds;
    for (std::int64_t i = 0; i < rounds; ++i) {
      fibers::fiber(fibers::launch::post, std::allocator_arg, stacks, [&left] { --left; }).detach();
    }
    while (left > 0) boost::this_fiber::yield();
  }
}

void I_bytes_per_sleeping_thread(benchmark::State& state) {
  constexpr std::int64_t threads = 10'000;
  std::size_t bytes = 0;
  while (state.KeepRunningBatch(threads)) {
    const std::size_t before = bide::bench::resident_bytes();
    std::vector<fibers::fiber> all;
    for (std::int64_t i = 0; i < threads; ++i) {
      all.push_back(start([] { boost::this_fiber::sleep_for(std::chrono::seconds(2)); }));
    }
    boost::this_fiber::yield();
    bytes = bide::bench::resident_bytes() - before;
    for (fibers::fiber& one : all) one.join();
  }
  state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(threads);
}

BENCHMARK(A_yield)->RangeMultiplier(10)->Range(1, 10'000);
BENCHMARK(B_submit_detached);
BENCHMARK(B_submit_join);
BENCHMARK(I_bytes_per_sleeping_thread)->Iterations(1);

}  // namespace
