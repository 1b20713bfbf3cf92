#pragma once

#include "job.hpp"
#include "replay.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace bide_jobs {

/// Neighbouring workers, from `first` on.
struct LaneRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend bool operator==(const LaneRange&, const LaneRange&) = default;
};

/// The workers that are free, as few ranges. Knows no upper bound: it is the owner's that no more are held at once
/// than exist.
class FreeLanes {
 public:
  /// The lowest ones, ascending; neighbouring ranges are one.
  /// Cost: O(log n) a range.
  std::vector<LaneRange> take(std::int64_t count);
  void give_back(const std::vector<LaneRange>& ranges);

 private:
  void insert(LaneRange range);

  std::map<std::int64_t, std::int64_t> ranges_;  // first to count, below `fresh_`
  std::int64_t fresh_ = 0;                       // from here on nothing was ever taken
};

/// Which workers each job ran on: the lowest free ones, in the order of the decisions. A replay counts slots alone, so
/// this is one of many truths; it is the same each time.
///
/// Returns: parallel to the jobs; empty for a refused one, more than one range where the free ones lay apart.
/// Order:   who ends at an instant leaves its workers to who starts then.
std::vector<std::vector<LaneRange>> assign_lanes(const Workload& workload, const History& history);

}  // namespace bide_jobs
