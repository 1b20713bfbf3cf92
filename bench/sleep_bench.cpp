// What sleeping costs: threads in virtual and real time, simulated events with the digest on, and memory. CPU
// time is for one sleep, from its arming through the jump of the clock to the thread's next turn.
//
// Run: sleep_bench --benchmark_filter=D_virtual_sleep

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <bide/bench/allocations.hpp>
#include <bide/bench/raw_coroutines.hpp>
#include <bide/bench/raw_sleep.hpp>
#include <bide/bench/resident_bytes.hpp>
#include <bide/executor/executor.hpp>
#include <bide/tests/random.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;

Duration up_to(Duration longest, test::Random& random) {
  return Duration(1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest.count()))));
}

Task<> sleeper(std::int64_t sleeps, std::uint64_t seed) {
  test::Random random(seed);
  for (; sleeps > 0; --sleeps) co_await Sleep(up_to(1s, random));
}

// Sleeps of up to a second, all different; what is timed is the run alone.
void sleep_in_virtual_time(benchmark::State& state, ExecutorOptions::Digest digest) {
  const bench::CountedAllocations allocations(state);
  const std::int64_t threads = state.range(0);
  const std::int64_t each = std::max<std::int64_t>(1'000'000 / threads, 4);
  while (state.KeepRunningBatch(threads * each)) {
    state.PauseTiming();
    Executor executor({.time = TimeMode::virtual_time, .digest = digest});
    for (std::int64_t i = 0; i < threads; ++i) executor.submit(sleeper(each, static_cast<std::uint64_t>(i)));
    state.ResumeTiming();
    executor.run();
  }
}

void D_virtual_sleep(benchmark::State& state) { sleep_in_virtual_time(state, ExecutorOptions::Digest::off); }

bench::RawDetached raw_sleeper(bench::RawSleepers& sleepers, std::int64_t sleeps, std::uint64_t seed) {
  test::Random random(seed);
  for (; sleeps > 0; --sleeps) co_await bench::RawSleep(sleepers, up_to(1s, random).count());
}

void D_virtual_sleep_raw(benchmark::State& state) {
  const std::int64_t threads = state.range(0);
  const std::int64_t each = std::max<std::int64_t>(1'000'000 / threads, 4);
  while (state.KeepRunningBatch(threads * each)) {
    state.PauseTiming();
    bench::RawSleepers sleepers;
    for (std::int64_t i = 0; i < threads; ++i) {
      sleepers.push(0, raw_sleeper(sleepers, each, static_cast<std::uint64_t>(i)).handle);
    }
    state.ResumeTiming();
    sleepers.run();
  }
}

void M_events_with_digest(benchmark::State& state) {
  sleep_in_virtual_time(state, ExecutorOptions::Digest::on);
  state.SetItemsProcessed(state.iterations());
}

Task<> one_sleep(Duration duration) { co_await Sleep(duration); }

// Submitted, asleep, awake and ended: a million threads whose sleeps end over 200 ms.
void D_real_sleep_1e6(benchmark::State& state) {
  constexpr std::int64_t threads = 1'000'000;
  test::Random random(1);
  while (state.KeepRunningBatch(threads)) {
    Executor executor;
    for (std::int64_t i = 0; i < threads; ++i) executor.submit(one_sleep(up_to(200ms, random)));
    executor.run();
  }
}

Task<> sleeps(std::uint64_t seed, int count) {
  test::Random random(seed);
  for (int i = 0; i < count; ++i) co_await Sleep(up_to(2ms, random));
}

// How late sleepers wake in real time: 100 threads, each at random instants. Never early.
void D_real_lateness(benchmark::State& state) {
  LatenessReport lateness;
  while (state.KeepRunning()) {
    Executor executor;
    for (std::uint64_t thread = 1; thread <= 100; ++thread) executor.submit(sleeps(thread, 100));
    lateness = executor.run().lateness;
  }
  state.counters["p50_us"] = static_cast<double>(lateness.p50.count()) / 1e3;
  state.counters["p99_us"] = static_cast<double>(lateness.p99.count()) / 1e3;
  state.counters["longest_us"] = static_cast<double>(lateness.longest.count()) / 1e3;
}

Task<> notes_resident_bytes(std::size_t& bytes) {
  bytes = bench::resident_bytes();
  co_return;
}

// What becomes resident: frame with its thread record, timer, table, the arrays. Seen by the last thread, when all others
// sleep: the report of a run that is left earlier describes each of them, in memory of its own.
void I_bytes_per_sleeping_thread(benchmark::State& state) {
  constexpr std::int64_t threads = 1'000'000;
  std::size_t bytes = 0;
  while (state.KeepRunningBatch(threads)) {
    frame_pool.limit_kept_bytes(0);
    const std::size_t before = bench::resident_bytes();
    Executor executor({.time = TimeMode::virtual_time});
    for (std::int64_t i = 0; i < threads; ++i) executor.submit(one_sleep(Duration(i + 1)));
    std::size_t asleep = 0;
    executor.submit(notes_resident_bytes(asleep));
    executor.run_until(Instant{});
    bytes = asleep - before;
    frame_pool.limit_kept_bytes(std::size_t{256} << 20U);
  }
  state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(threads);
}

BENCHMARK(D_virtual_sleep)->RangeMultiplier(10)->Range(10, 1'000'000);
BENCHMARK(D_virtual_sleep_raw)->RangeMultiplier(10)->Range(10, 1'000'000);
BENCHMARK(D_real_sleep_1e6);
BENCHMARK(D_real_lateness)->Iterations(3);
BENCHMARK(I_bytes_per_sleeping_thread)->Iterations(1);
BENCHMARK(M_events_with_digest)->Arg(1000)->Arg(100000);

}  // namespace
