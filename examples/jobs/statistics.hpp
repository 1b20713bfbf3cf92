#pragma once

#include "job.hpp"
#include "replay.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bide_jobs {

/// Waits of done jobs, from submit to start.
///
/// mean: rounded half up to a nanosecond. p50, p99: nearest rank, so always a wait that occurred: the
/// smallest that at least so many percent do not exceed. All zero when there is none.
struct Waits {
  Nanoseconds mean{0};
  Nanoseconds p50{0};
  Nanoseconds p99{0};
  Nanoseconds max{0};
};

Waits measure(std::vector<Nanoseconds> waits);

/// Jobs of one class, or of all.
struct Tally {
  std::size_t job_count = 0;  // done or refused
  std::size_t done_count = 0;
  std::size_t refused_count = 0;
  std::size_t deadline_count = 0;  // done jobs that had one
  std::size_t missed_count = 0;    // of those, ended later
  Waits waits;
};

struct Statistics {
  std::array<Tally, bide::priority_count> by_class;  // indexed by Priority
  Tally all;
  std::size_t queue_full_count = 0;
  std::size_t too_wide_count = 0;
  Nanoseconds makespan{0};
  /// Thousandths of workers x makespan that jobs held, rounded half up; 0 for an empty makespan.
  std::int64_t utilisation_permille = 0;
};

Statistics summarize(const Workload& workload, const History& history, std::int64_t workers);

/// Deadlines are met by ending at or before them.
bool missed_deadline(const Job& job, const Fate& fate);

}  // namespace bide_jobs
