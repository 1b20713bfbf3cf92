// What an idle connection holds (I): a thread that waits for its peer, 10,000 of them, in bytes of this process. The
// kernel's part, some kilobytes each, is not in it.

#include <benchmark/benchmark.h>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/io/unix.hpp>

namespace {

using namespace bide;

std::size_t allocated_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

Task<> serve_receives(UnixStream stream) {
  for (;;) {
    const Received received = co_await stream.receive();
    if (received.empty()) co_return;
    static_cast<void>(co_await stream.write_all(received.data()));
  }
}

Task<> serve_reads(UnixStream stream) {
  std::array<std::byte, 4096> bytes{};
  for (;;) {
    const std::size_t size = co_await stream.read(bytes);
    if (size == 0) co_return;
    static_cast<void>(co_await stream.write_all(std::span(bytes).first(size)));
  }
}

// Half the descriptors are the peers'. As many as this process may have, at most `wanted`.
std::size_t possible_connections(std::size_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return std::min<std::size_t>(wanted, (limit.rlim_cur - 100) / 2);
}

template <class Serve>
void idle_connections(benchmark::State& state, Serve serve) {
  const std::size_t connections = possible_connections(10'000);
  std::size_t bytes = 0;
  while (state.KeepRunning()) {
    frame_pool.limit_kept_bytes(0);
    std::vector<UnixStream> peers;
    peers.reserve(connections);
    Executor executor;
    const std::size_t before = allocated_bytes();
    for (std::size_t connection = 0; connection < connections; ++connection) {
      auto [peer, served] = UnixStream::pair();
      peers.push_back(std::move(peer));
      executor.submit(serve(std::move(served)));
    }
    for (std::size_t connection = 0; connection < connections; ++connection)
      executor.run_one();  // to its wait
    bytes = allocated_bytes() - before;
    peers.clear();
    executor.run();
    frame_pool.limit_kept_bytes(std::size_t{256} << 20U);
  }
  state.counters["connections"] = static_cast<double>(connections);
  state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(connections);
}

void I_idle_connection_receive(benchmark::State& state) { idle_connections(state, serve_receives); }
void I_idle_connection_read(benchmark::State& state) { idle_connections(state, serve_reads); }

BENCHMARK(I_idle_connection_receive)->Iterations(1);
BENCHMARK(I_idle_connection_read)->Iterations(1);

}  // namespace
