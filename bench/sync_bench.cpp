// What a hand-off between two threads costs: one of them waits, the other lets it go on, and the loop resumes
// it. CPU time is for one hand-off, which is one resume, or for one item. The `A_yield/2` beside them is a
// resume without one. Gate on ratios within one run, never on absolute figures.
//
// Run: sync_bench --benchmark_filter=E_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>

#include <bide/bench/allocations.hpp>
#include <bide/bench/raw_hand_off.hpp>
#include <bide/executor/executor.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>

namespace {

using namespace bide;

constexpr std::int64_t rounds = 10'000;

Executor make_executor() { return Executor({.time = TimeMode::virtual_time}); }

Task<> yielder(std::int64_t count) {
  for (; count > 0; --count) co_await Yield();
}

void A_yield(benchmark::State& state) {
  Executor executor = make_executor();
  while (state.KeepRunningBatch(2 * rounds)) {
    executor.submit(yielder(rounds));
    executor.submit(yielder(rounds));
    executor.run();
  }
}

// Each sets the other's event and waits for its own.
Task<> plays_ball(Event& mine, Event& other, std::int64_t count) {
  for (; count > 0; --count) {
    co_await mine.wait();
    mine.reset();
    other.set();
  }
}

void E_event_hand_off(benchmark::State& state) {
  const bench::CountedAllocations allocations(state);
  Executor executor = make_executor();
  while (state.KeepRunningBatch(2 * rounds)) {
    Event ping;
    Event pong;
    executor.submit(plays_ball(ping, pong, rounds));
    executor.submit(plays_ball(pong, ping, rounds));
    ping.set();
    executor.run();
  }
}

Task<> sends(Channel<std::int64_t>& channel, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) co_await channel.send(i);
  channel.close();
}
Task<> receives(Channel<std::int64_t>& channel) {
  while (auto item = co_await channel.receive()) benchmark::DoNotOptimize(*item);
}

void items_through_a_channel(benchmark::State& state, std::size_t capacity) {
  const bench::CountedAllocations allocations(state);
  Executor executor = make_executor();
  while (state.KeepRunningBatch(rounds)) {
    Channel<std::int64_t> channel(capacity);
    executor.submit(receives(channel));
    executor.submit(sends(channel, rounds));
    executor.run();
  }
}

bench::RawDetached raw_plays_ball(bench::RawEvent& mine, bench::RawEvent& other, std::int64_t count) {
  for (; count > 0; --count) {
    co_await mine;
    other.set();
  }
}

void E_event_hand_off_raw(benchmark::State& state) {
  while (state.KeepRunningBatch(2 * rounds)) {
    bench::RawBuckets buckets(2);
    bench::RawEvent ping(buckets);
    bench::RawEvent pong(buckets);
    buckets.push(1, raw_plays_ball(ping, pong, rounds).handle);
    buckets.push(1, raw_plays_ball(pong, ping, rounds).handle);
    ping.set();
    buckets.run();
  }
}

// The events are named first: g++ 12 awaits a copy of what a call returns by reference.
bench::RawDetached raw_sends(bench::RawChannel& channel, std::int64_t count) {
  bench::RawEvent& not_full = channel.not_full();
  for (; count > 0; --count) {
    while (channel.full()) co_await not_full;
    channel.push(count);
  }
}
bench::RawDetached raw_receives(bench::RawChannel& channel, std::int64_t& count) {
  bench::RawEvent& not_empty = channel.not_empty();
  for (; count > 0; --count) {
    while (channel.empty()) co_await not_empty;
    benchmark::DoNotOptimize(channel.pop());
  }
}

void E_channel_1024_raw(benchmark::State& state) {
  while (state.KeepRunningBatch(rounds)) {
    bench::RawBuckets buckets(2);
    bench::RawChannel channel(buckets, 1024);
    std::int64_t left = rounds;
    buckets.push(1, raw_receives(channel, left).handle);
    buckets.push(1, raw_sends(channel, rounds).handle);
    buckets.run();
    if (left != 0) std::abort();
  }
}

void E_channel_0(benchmark::State& state) { items_through_a_channel(state, 0); }
void E_channel_1024(benchmark::State& state) { items_through_a_channel(state, 1024); }

Task<> locks(Mutex& mutex, std::int64_t count) {
  for (; count > 0; --count) {
    const Mutex::Guard guard = co_await mutex.lock();
    co_await Yield();  // so that the other has to wait
  }
}

// A resume for the hand-off, and one for the yield.
void E_mutex_hand_off(benchmark::State& state) {
  const bench::CountedAllocations allocations(state);
  Executor executor = make_executor();
  while (state.KeepRunningBatch(2 * rounds)) {
    Mutex mutex;
    executor.submit(locks(mutex, rounds));
    executor.submit(locks(mutex, rounds));
    executor.run();
  }
}

Task<> locks_free(Mutex& mutex, std::int64_t count) {
  for (; count > 0; --count) const Mutex::Guard guard = co_await mutex.lock();
}

void E_mutex_free(benchmark::State& state) {
  Executor executor = make_executor();
  while (state.KeepRunningBatch(rounds)) {
    Mutex mutex;
    executor.submit(locks_free(mutex, rounds));
    executor.run();
  }
}

Task<> passes_on(Semaphore& mine, Semaphore& other, std::int64_t count) {
  for (; count > 0; --count) {
    co_await mine.acquire();
    other.release();
  }
}

void E_semaphore(benchmark::State& state) {
  Executor executor = make_executor();
  while (state.KeepRunningBatch(2 * rounds)) {
    Semaphore ping(1);
    Semaphore pong(0);
    executor.submit(passes_on(ping, pong, rounds));
    executor.submit(passes_on(pong, ping, rounds));
    executor.run();
  }
}

Task<> selects(Channel<std::int64_t>& first, Channel<std::int64_t>& second) {
  for (;;) {
    const auto selected = co_await select(receiving(first), receiving(second));
    if (selected.index == 0 && !std::get<0>(selected.value)) break;
  }
}

// The item comes to one of two arms that wait.
void E_select_of_2(benchmark::State& state) {
  Executor executor = make_executor();
  while (state.KeepRunningBatch(rounds)) {
    Channel<std::int64_t> used(0);
    Channel<std::int64_t> unused(0);
    executor.submit(selects(used, unused));
    executor.submit(sends(used, rounds));
    executor.run();
  }
}

BENCHMARK(A_yield);
BENCHMARK(E_event_hand_off);
BENCHMARK(E_event_hand_off_raw);
BENCHMARK(E_channel_0);
BENCHMARK(E_channel_1024);
BENCHMARK(E_channel_1024_raw);
BENCHMARK(E_mutex_hand_off);
BENCHMARK(E_mutex_free);
BENCHMARK(E_semaphore);
BENCHMARK(E_select_of_2);

}  // namespace
