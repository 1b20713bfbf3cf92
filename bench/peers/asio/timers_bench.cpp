// Asio's timers: rows D and I.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <asio.hpp>

#include <bide/bench/allocations.hpp>
#include <bide/bench/resident_bytes.hpp>
#include <bide/tests/random.hpp>

namespace {

using asio::io_context;
using asio::steady_timer;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

nanoseconds up_to(nanoseconds longest, bide::test::Random& random) {
  return nanoseconds(1 +
                     static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest.count()))));
}

void D_arm_cancel(benchmark::State& state) {
  const bide::bench::CountedAllocations allocations(state);
  io_context context(1);
  bide::test::Random random(42);
  std::vector<std::unique_ptr<steady_timer>> waiting;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    waiting.push_back(std::make_unique<steady_timer>(context, 1h + up_to(1s, random)));
    waiting.back()->async_wait([](const std::error_code&) {});
  }
  steady_timer timer(context);
  while (state.KeepRunning()) {
    timer.expires_after(1h + up_to(1s, random));
    timer.async_wait([](const std::error_code&) {});
    timer.cancel();
    context.poll();
  }
}

asio::awaitable<void> one_sleep(nanoseconds duration) {
  steady_timer timer(co_await asio::this_coro::executor, duration);
  co_await timer.async_wait(asio::use_awaitable);
}

void D_real_sleep_1e6(benchmark::State& state) {
  constexpr std::int64_t threads = 1'000'000;
  const bide::bench::CountedAllocations allocations(state);
  bide::test::Random random(1);
  while (state.KeepRunningBatch(threads)) {
    io_context context(1);
    for (std::int64_t i = 0; i < threads; ++i) {
      asio::co_spawn(context, one_sleep(up_to(200ms, random)), asio::detached);
    }
    context.run();
  }
}

void I_bytes_per_sleeping_thread(benchmark::State& state) {
  constexpr std::int64_t threads = 1'000'000;
  std::size_t bytes = 0;
  while (state.KeepRunningBatch(threads)) {
    const std::size_t before = bide::bench::resident_bytes();
    io_context context(1);
    for (std::int64_t i = 0; i < threads; ++i) asio::co_spawn(context, one_sleep(1h), asio::detached);
    context.poll();
    bytes = bide::bench::resident_bytes() - before;
  }
  state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(threads);
}

BENCHMARK(D_arm_cancel)->RangeMultiplier(10)->Range(10, 1'000'000);
BENCHMARK(D_real_sleep_1e6);
BENCHMARK(I_bytes_per_sleeping_thread)->Iterations(1);

}  // namespace
