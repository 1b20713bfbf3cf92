#pragma once

// Allocations per operation: a program that links allocations.cpp counts its calls of operator new.

#include <benchmark/benchmark.h>

#include <cstdint>

namespace bide::bench {

/// Calls of operator new so far, of all OS threads' together where only one allocates.
std::uint64_t allocation_count();

/// Stands at the start of a case, and tells its allocations per operation, those of its set-up included.
class CountedAllocations {
 public:
  explicit CountedAllocations(benchmark::State& state) : state_(state), begun_(allocation_count()) {}
  ~CountedAllocations() {
    const auto count = static_cast<double>(allocation_count() - begun_);
    state_.counters["allocations"] = benchmark::Counter(count, benchmark::Counter::kAvgIterations);
  }
  CountedAllocations(const CountedAllocations&) = delete;
  CountedAllocations& operator=(const CountedAllocations&) = delete;

 private:
  benchmark::State& state_;
  std::uint64_t begun_;
};

}  // namespace bide::bench
