#pragma once

// The core's steps, each as work of any length in virtual time: what the counts of instructions, the digests of
// the schedule and the page faults are taken of. The timings have cases of their own in the programs *_bench.

#include <cstdint>
#include <span>

#include <bide/executor/executor.hpp>

namespace bide::bench {

struct CoreCase {
  const char* name;
  /// Submits work of `count` operations, in virtual time; it is done when `run` returns.
  void (*submit)(Executor&, std::int64_t count);
};

std::span<const CoreCase> core_cases();

}  // namespace bide::bench
