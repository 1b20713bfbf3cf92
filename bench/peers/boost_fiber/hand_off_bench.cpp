// Hand-offs between Boost's fibers: row E.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <mutex>

#include <boost/fiber/all.hpp>

#include <bide/bench/allocations.hpp>

namespace {

namespace fibers = boost::fibers;

constexpr std::int64_t rounds = 10'000;

// What Boost.Fiber has in place of an event.
class Event {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    is_set_ = true;
    changed_.notify_one();
  }
  void wait_and_reset() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_set_; });
    is_set_ = false;
  }

 private:
  fibers::mutex mutex_;
  fibers::condition_variable changed_;
  bool is_set_ = false;
};

void plays_ball(Event& mine, Event& other, std::int64_t count) {
  for (; count > 0; --count) {
    mine.wait_and_reset();
    other.set();
  }
}

void E_event_hand_off(benchmark::State& state) {
  const bide::bench::CountedAllocations allocations(state);
  while (state.KeepRunningBatch(2 * rounds)) {
    Event ping;
    Event pong;
    fibers::fiber first([&] { plays_ball(ping, pong, rounds); });
    fibers::fiber second([&] { plays_ball(pong, ping, rounds); });
    ping.set();
    first.join();
    second.join();
  }
}

template <class Channel>
void pass_items(Channel& channel) {
  fibers::fiber receiver([&channel] {
    for (std::int64_t item = 0; channel.pop(item) == fibers::channel_op_status::success;) {
      benchmark::DoNotOptimize(item);
    }
  });
  fibers::fiber sender([&channel] {
    for (std::int64_t i = 0; i < rounds; ++i) channel.push(i);
    channel.close();
  });
  receiver.join();
  sender.join();
}

void E_channel_0(benchmark::State& state) {
  const bide::bench::CountedAllocations allocations(state);
  while (state.KeepRunningBatch(rounds)) {
    fibers::unbuffered_channel<std::int64_t> channel;
    pass_items(channel);
  }
}

void E_channel_1024(benchmark::State& state) {
  const bide::bench::CountedAllocations allocations(state);
  while (state.KeepRunningBatch(rounds)) {
    fibers::buffered_channel<std::int64_t> channel(1024);
    pass_items(channel);
  }
}

BENCHMARK(E_event_hand_off);
BENCHMARK(E_channel_0);
BENCHMARK(E_channel_1024);

}  // namespace
