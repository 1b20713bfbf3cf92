// What the outside costs where there is nothing to do: an operation that is done at once (G). Figures are CPU time of
// one operation. G_poll_raw does the same by hand. Gate on ratios within one run, never on absolute figures.
//
// Run: io_bench --benchmark_enable_random_interleaving --benchmark_repetitions=9 --benchmark_report_aggregates_only

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bide/bench/raw_ring.hpp>
#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/operation.hpp>

namespace {

using namespace bide;
using bench::RawRing;

/// The bare await of an operation.
class PollNow final : public OperationWait {
 public:
  explicit PollNow(int on, std::source_location where = std::source_location::current())
      : OperationWait(Kind::poll, where) {
    descriptor = on;
    flags = POLLIN;
  }
  std::string describe() const override { return "a poll"; }
  bool await_ready() { return enter(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), *running.executor->driver());
  }
  std::int64_t await_resume() { return end(); }
};

Task<> polls(int on, std::int64_t count) {
  for (; count > 0; --count) static_cast<void>(co_await PollNow(on));
}

constexpr std::int64_t polls_in_all = 100'000;

// resumes_per_turn is the depth: all that are in flight go in one call, as by hand.
void G_poll(benchmark::State& state) {
  const std::int64_t depth = state.range(0);
  const int ready = ::eventfd(1, EFD_CLOEXEC);
  ExecutorOptions options;
  options.resumes_per_turn = static_cast<std::uint32_t>(std::max<std::int64_t>(depth, 64));
  Executor executor(options);
  DriverOptions driver;
  driver.choice = DriverOptions::Choice::uring;
  executor.install(make_driver(executor, driver));
  while (state.KeepRunningBatch(polls_in_all)) {
    for (std::int64_t i = 0; i < depth; ++i) executor.submit(polls(ready, polls_in_all / depth));
    executor.run();
  }
  ::close(ready);
}

void G_poll_raw(benchmark::State& state) {
  const std::int64_t depth = state.range(0);
  const int ready = ::eventfd(1, EFD_CLOEXEC);
  RawRing ring(1024);
  while (state.KeepRunningBatch(polls_in_all)) {
    std::vector<std::int64_t> left(static_cast<std::size_t>(depth), polls_in_all / depth);
    for (std::int64_t& one : left) ring.poll(ready, &one);
    std::int64_t live = depth;
    while (live > 0) {
      ring.turn([&](void* data, int) {
        auto& one = *static_cast<std::int64_t*>(data);
        if (--one > 0) return ring.poll(ready, &one);
        --live;
      });
    }
  }
  ::close(ready);
}

BENCHMARK(G_poll)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(G_poll_raw)->Arg(1)->Arg(32)->Arg(256);

}  // namespace
