// What the outside costs: an operation that is done at once (G), and an echo of 64 bytes (F). Figures are CPU time of
// the OS thread that serves, for one operation, one request. The rows named `..._raw` do the same by hand. Gate on
// ratios within one run, never on absolute figures; interleave the rows, since the machine drifts:
//
// Run: io_bench --benchmark_enable_random_interleaving --benchmark_repetitions=9 --benchmark_report_aggregates_only

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bide/bench/raw_echo.hpp>
#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/io/tcp.hpp>

namespace {

using namespace bide;
using bench::EchoLoad;
using bench::RawRing;

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

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

constexpr std::int64_t echoes_in_all = 40'000;
constexpr std::size_t message_bytes = 64;

/// Times `serve(descriptors)`, which ends once the load has closed every connection.
template <class Serve>
void echo(benchmark::State& state, Serve serve) {
  const auto connections = static_cast<std::size_t>(state.range(0));
  while (state.KeepRunning()) {
    EchoLoad load(connections, echoes_in_all / state.range(0), message_bytes);
    std::thread client([&load] { load.run(); });
    const double begun = thread_seconds();
    serve(load.served());
    const double used = thread_seconds() - begun;
    client.join();
    state.SetIterationTime(used / static_cast<double>(echoes_in_all));
  }
}

Task<> serve_reads(TcpStream stream) {
  std::array<std::byte, 256> bytes{};
  for (;;) {
    const std::size_t size = co_await stream.read(bytes);
    if (size == 0) break;
    static_cast<void>(co_await stream.write_all(std::span(bytes).first(size)));
  }
}

Task<> serve_receives(TcpStream stream) {
  for (;;) {
    const Received received = co_await stream.receive();
    if (received.empty()) break;
    static_cast<void>(co_await stream.write_all(received.data()));
  }
}

template <class Serve>
void echo_on(benchmark::State& state, DriverOptions::Choice choice, Serve serve) {
  Executor executor;
  DriverOptions options;
  options.choice = choice;
  executor.install(make_driver(executor, options));
  echo(state, [&](const std::vector<int>& descriptors) {
    for (const int descriptor : descriptors) executor.submit(serve(TcpStream(Descriptor(descriptor))));
    executor.run();
  });
}

void F_echo(benchmark::State& state) { echo_on(state, DriverOptions::Choice::uring, serve_reads); }
void F_echo_receive(benchmark::State& state) { echo_on(state, DriverOptions::Choice::uring, serve_receives); }
void F_echo_epoll(benchmark::State& state) { echo_on(state, DriverOptions::Choice::epoll, serve_reads); }
void F_echo_raw_uring(benchmark::State& state) {
  RawRing ring(1024);
  echo(state, [&](const std::vector<int>& descriptors) { bench::raw_uring_echo(ring, descriptors); });
}
void F_echo_raw_epoll(benchmark::State& state) {
  echo(state, [](const std::vector<int>& descriptors) { bench::raw_epoll_echo(descriptors); });
}

BENCHMARK(G_poll)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(G_poll_raw)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(F_echo)->ArgName("connections")->Arg(1)->Arg(64)->Arg(1000)->Iterations(1)->UseManualTime();
BENCHMARK(F_echo_receive)->ArgName("connections")->Arg(1)->Arg(64)->Arg(1000)->Iterations(1)->UseManualTime();
BENCHMARK(F_echo_epoll)->ArgName("connections")->Arg(1)->Arg(64)->Arg(1000)->Iterations(1)->UseManualTime();
BENCHMARK(F_echo_raw_uring)
    ->ArgName("connections")
    ->Arg(1)
    ->Arg(64)
    ->Arg(1000)
    ->Iterations(1)
    ->UseManualTime();
BENCHMARK(F_echo_raw_epoll)
    ->ArgName("connections")
    ->Arg(1)
    ->Arg(64)
    ->Arg(1000)
    ->Iterations(1)
    ->UseManualTime();

}  // namespace
