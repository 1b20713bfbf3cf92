#pragma once

#include "job.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bide_jobs {

/// Which jobs of a workload may start, as those end that they are after.
class Dependents {
 public:
  enum class Ending : std::uint8_t { success, failure, skipped };

  /// `jobs` stay where they are. Requires: no job is after itself, in any number of steps.
  explicit Dependents(const std::vector<Job>& jobs);

  /// Returns: whether it may start; if not, `ended` names it one day, as ready or as skipped.
  bool arrive(std::uint32_t job);

  /// Jobs by their index, ascending. A skipped one has a parent that ended otherwise than it needs; it may be one that
  /// has not arrived yet, whose `arrive` then gives false.
  struct Freed {
    std::vector<std::uint32_t> ready;
    std::vector<std::uint32_t> skipped;
  };
  /// Also tells of the dependents of those that are skipped by this.
  Freed end(std::uint32_t job, Ending ending);

 private:
  struct Edge {
    std::uint32_t child = 0;
    After::On on = After::On::success;
  };
  struct State {
    std::size_t unmet_count = 0;
    bool arrived = false;
    bool skipped = false;
  };

  std::vector<State> states_;
  std::vector<std::vector<Edge>> children_;
};

}  // namespace bide_jobs
