#pragma once

#include "job.hpp"
#include "replay.hpp"
#include "statistics.hpp"

#include <chrono>
#include <iosfwd>
#include <vector>

namespace bide_jobs {

/// A replay and what came of it.
struct Run {
  ReplayOptions options;
  History history;
  Statistics statistics;
  std::chrono::nanoseconds wall_time{0};  // of reading the workload and replaying it
};

/// The table for people: a row a class, then utilisation, makespan and wall time, then what was skipped and
/// refused.
void write_report(std::ostream& out, const Workload& workload, const Run& run);

/// The policies side by side, a column each, under the jobs that fit under none of them. Nothing in it depends
/// on the machine.
void write_comparison(std::ostream& out, const Workload& workload, const std::vector<Run>& runs);

/// The same for machines: an object, with all refused jobs; or an array of objects, one a policy. Keys stay
/// in their order, times are in nanoseconds.
void write_json(std::ostream& out, const Workload& workload, const Run& run);
void write_json(std::ostream& out, const Workload& workload, const std::vector<Run>& runs);

}  // namespace bide_jobs
