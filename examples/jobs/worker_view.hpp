#pragma once

#include "job_json.hpp"

#include <bide/executor/jobs/job_scheduler.hpp>
#include <bide/timers/instant.hpp>

#include <string>

namespace bide_jobs {

/// What a JobScheduler shows to those who look from outside.
class WorkerView {
 public:
  explicit WorkerView(const bide::JobScheduler& scheduler) : scheduler_(scheduler) {}

  /// The next look shows what is new. `id`: a job that was submitted.
  void changed(bide::JobId id = 0);

  Json jobs(const bide::JobFilter& filter);
  /// All that the page shows, as JSON: up to 100 of each list. However many look, it is made four times a second at most.
  const std::string& state();
  /// What recurs, by name.
  Json recurring() const;

 private:
  Json live();
  Json decisions();
  Json recent();

  const bide::JobScheduler& scheduler_;
  bide::JobId newest_ = 0;  // that was seen
  bide::Instant state_at_{};
  std::string state_;  // of that instant; empty: to be made
};

}  // namespace bide_jobs
