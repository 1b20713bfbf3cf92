// What a simulation costs that has nothing to do (O): an executor made, one thread run in virtual time, all gone again.

#include <benchmark/benchmark.h>

#include <bide/bench/allocations.hpp>
#include <bide/executor/executor.hpp>

namespace {

using namespace bide;

Task<> sleeps_once() { co_await Sleep(std::chrono::hours(1)); }

void O_empty_run(benchmark::State& state) {
  const bench::CountedAllocations allocations(state);
  while (state.KeepRunning()) {
    Executor executor({.time = TimeMode::virtual_time});
    executor.submit(sleeps_once());
    executor.run();
  }
}

BENCHMARK(O_empty_run);

}  // namespace
