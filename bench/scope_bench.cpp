// What scopes cost: a timeout that is not needed, beside the bare await of the same child; a group of
// threads, beside as many threads submitted and joined without one. CPU time is for one operation: a child, a
// thread.
//
// Run: scope_bench --benchmark_filter=L_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include <bide/bench/allocations.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_all.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;

constexpr std::int64_t rounds = 1000;  // operations a batch

Task<int> child(int value) { co_return value; }

Task<> awaits_children(std::int64_t count) {
  for (int i = 0; i < count; ++i) benchmark::DoNotOptimize(co_await child(i));
}
Task<> awaits_with_timeout(std::int64_t count) {
  for (int i = 0; i < count; ++i) benchmark::DoNotOptimize(co_await timeout(1h, child(i)));
}
Task<> awaits_with_deadline(std::int64_t count) {
  for (int i = 0; i < count; ++i) benchmark::DoNotOptimize(co_await deadline(Instant(1h), child(i)));
}
Task<> awaits_shielded(std::int64_t count) {
  for (int i = 0; i < count; ++i) benchmark::DoNotOptimize(co_await shielded(child(i)));
}

void repeat(benchmark::State& state, Task<> (*work)(std::int64_t), std::int64_t count) {
  const bench::CountedAllocations allocations(state);
  Executor executor({.time = TimeMode::virtual_time});
  while (state.KeepRunningBatch(count)) {
    executor.submit(work(count));
    executor.run();
  }
}

void L_bare_await(benchmark::State& state) { repeat(state, awaits_children, rounds); }
void L_timeout_not_fired(benchmark::State& state) { repeat(state, awaits_with_timeout, rounds); }
void L_deadline_not_fired(benchmark::State& state) { repeat(state, awaits_with_deadline, rounds); }
void L_shielded(benchmark::State& state) { repeat(state, awaits_shielded, rounds); }

constexpr std::int64_t children = 100;

Task<> nothing() { co_return; }

Task<> submits_to_group(TaskGroup& group) {
  for (int i = 0; i < children; ++i) group.submit(nothing());
  co_return;
}
Task<> runs_a_group(std::int64_t) { co_await with_task_group(submits_to_group); }

Task<> runs_when_all(std::int64_t count) {
  std::vector<Task<>> tasks;
  tasks.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) tasks.push_back(nothing());
  co_await when_all(std::move(tasks));
}

Task<> submits_and_joins(std::int64_t count) {
  std::vector<Handle<>> handles;
  handles.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) handles.push_back(submit(nothing()));
  for (Handle<>& handle : handles) co_await handle;
}

void L_submit_join_100(benchmark::State& state) { repeat(state, submits_and_joins, children); }
void L_group_100_children(benchmark::State& state) { repeat(state, runs_a_group, children); }
void L_when_all_100(benchmark::State& state) { repeat(state, runs_when_all, children); }

BENCHMARK(L_bare_await);
BENCHMARK(L_timeout_not_fired);
BENCHMARK(L_deadline_not_fired);
BENCHMARK(L_shielded);
BENCHMARK(L_submit_join_100);
BENCHMARK(L_group_100_children);
BENCHMARK(L_when_all_100);

}  // namespace
