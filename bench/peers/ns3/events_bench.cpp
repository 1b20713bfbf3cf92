// Events of a simulator of networks, ns-3, with its default scheduler: row M. It has no digest.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <ns3/nstime.h>
#include <ns3/simulator.h>

#include <bide/bench/allocations.hpp>
#include <bide/tests/random.hpp>

namespace {

// One event that schedules itself again, `left` times, each after up to a second.
class Recurring {
 public:
  Recurring(std::uint64_t seed, std::int64_t times) : random_(seed), left_(times) {}
  void happen() {
    if (left_-- <= 0) return;
    const auto wait = static_cast<std::int64_t>(1 + random_.below(1'000'000'000));
    ns3::Simulator::Schedule(ns3::NanoSeconds(wait), &Recurring::happen, this);
  }

 private:
  bide::test::Random random_;
  std::int64_t left_;
};

void M_events_with_digest(benchmark::State& state) {
  const bide::bench::CountedAllocations allocations(state);
  const std::int64_t pending = state.range(0);
  const std::int64_t each = std::max<std::int64_t>(1'000'000 / pending, 4);
  while (state.KeepRunningBatch(pending * each)) {
    state.PauseTiming();
    std::vector<Recurring> all;
    all.reserve(static_cast<std::size_t>(pending));
    for (std::int64_t i = 0; i < pending; ++i) {
      all.emplace_back(static_cast<std::uint64_t>(i), each);
      all.back().happen();
    }
    state.ResumeTiming();
    ns3::Simulator::Run();
    state.PauseTiming();
    ns3::Simulator::Destroy();
    state.ResumeTiming();
  }
}
BENCHMARK(M_events_with_digest)->Arg(1000)->Arg(100000);

}  // namespace
