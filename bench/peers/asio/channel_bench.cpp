// Asio's channels: row E.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <system_error>

#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <bide/bench/allocations.hpp>

namespace {

constexpr std::int64_t rounds = 10'000;
using Channel = asio::experimental::channel<void(std::error_code, std::int64_t)>;

asio::awaitable<void> sends(Channel& channel, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    co_await channel.async_send(std::error_code(), i, asio::use_awaitable);
  }
}
asio::awaitable<void> receives(Channel& channel, std::int64_t count) {
  for (; count > 0; --count) {
    const std::int64_t item = co_await channel.async_receive(asio::use_awaitable);
    benchmark::DoNotOptimize(item);
  }
}

void items_through_a_channel(benchmark::State& state, std::size_t capacity) {
  const bide::bench::CountedAllocations allocations(state);
  asio::io_context context(1);
  while (state.KeepRunningBatch(rounds)) {
    Channel channel(context, capacity);
    asio::co_spawn(context, receives(channel, rounds), asio::detached);
    asio::co_spawn(context, sends(channel, rounds), asio::detached);
    context.restart();
    context.run();
  }
}

void E_channel_0(benchmark::State& state) { items_through_a_channel(state, 0); }
void E_channel_1024(benchmark::State& state) { items_through_a_channel(state, 1024); }

BENCHMARK(E_channel_0);
BENCHMARK(E_channel_1024);

}  // namespace
