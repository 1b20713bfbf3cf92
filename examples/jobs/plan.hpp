#pragma once

#include "job.hpp"
#include "report.hpp"

#include <bide/executor/jobs/job_status.hpp>
#include <bide/executor/jobs/job_store.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace bide_jobs {

struct PlanOptions {
  std::size_t workers = 1;
  Nanoseconds until{0};      // what recurs comes up to this instant
  bide::WallTime epoch = 0;  // of the instant 0, for cron
};

/// What a plan is: the jobs that came of the lines, what recurs in each of its occurrences, and how each went.
struct Plan {
  Workload workload;  // with the durations that were taken
  History history;
  std::vector<bide::JobStatus> statuses;  // parallel to the jobs
};

/// Median of the durations by kind, of the jobs in a store that have succeeded.
std::map<std::string, Nanoseconds> learned_durations(const bide::StoredState& state);

/// Gives the jobs the durations that their kinds have taken so far; else they keep their own, or take their hint, or
/// one second.
void take_durations(Workload& workload, const std::map<std::string, Nanoseconds>& learned);

/// Runs the file in virtual time on a JobScheduler, as `--real` would, but each job sleeps for its duration.
///
/// Throws: InputError for what a JobScheduler does not take.
Plan make_plan(const Workload& workload, const PlanOptions& options);

/// When each starts and ends, by start, and who will be late.
void write_plan(std::ostream& out, const Plan& plan, const PlanOptions& options);

}  // namespace bide_jobs
