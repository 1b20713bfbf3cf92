#pragma once

#include "job.hpp"

#include <bide/executor/jobs/job.hpp>
#include <bide/executor/jobs/job_scheduler.hpp>
#include <bide/executor/jobs/recurring.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

namespace bide_jobs {

/// Turns the lines of a file into jobs of bide's JobScheduler.
///
/// key      the name, with `#LINE` behind it where another line has the same name; so a file that is submitted again
///          adds what is new
/// kind     the column, else the name
/// payload  the command
/// labels   name, line
/// slots    permits of a semaphore that has one for each worker: so a wide job keeps other workers idle
class SchedulerJobs {
 public:
  /// `origin`: the instant that the file counts from.
  /// Throws: InputError for a job that takes more slots than there are workers.
  SchedulerJobs(const Workload& workload, bide::Instant origin, std::size_t workers);

  /// What the jobs share. Once for each scheduler, before the first of them comes.
  void add_resources(bide::JobScheduler& scheduler) const;

  bide::Job job(std::size_t index) const;
  /// Requires: the job recurs.
  bide::Recurring recurring(std::size_t index) const;

  std::string key(std::size_t index) const;
  std::string kind(std::size_t index) const;
  bide::Instant submit_at(std::size_t index) const { return at(jobs_[index].submit); }

 private:
  bide::Job without_times(std::size_t index) const;
  bide::Instant at(Nanoseconds time) const { return bide::add_saturating(origin_, time); }

  const std::vector<Job>& jobs_;
  bide::Instant origin_;
  std::size_t workers_;
  bool wide_ = false;                                         // a job takes more than one slot
  std::unordered_map<std::string, std::size_t> name_counts_;  // only looked up
  std::unordered_map<std::size_t, std::size_t> at_line_;      // only looked up
};

bool recurs(const Job& job);

/// Throws: InputError for a job without a command.
void require_commands(const Workload& workload);

/// Of equal weight; empty where no job names one.
std::map<std::string, std::uint32_t> tenants_of(const Workload& workload);

/// Submits every job of the file at its time, then returns; what recurs goes on. `submitted` is called with each handle.
/// A job that finds the queue full is offered again until there is room.
bide::Task<> submit_all(const SchedulerJobs& jobs, const Workload& workload, bide::JobScheduler& scheduler,
                        std::function<void(std::size_t, bide::JobHandle)> submitted);

}  // namespace bide_jobs
