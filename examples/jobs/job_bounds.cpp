#include "job_bounds.hpp"

#include <algorithm>

namespace bide_jobs {
namespace {

bool sum_overflows(Nanoseconds a, Nanoseconds b) { return a > Nanoseconds::max() - b; }

}  // namespace

const char* JobBounds::complete(Job& job) {
  latest_submit_ = std::max(latest_submit_, job.submit);
  // While a job waits after the last arrival another one runs, so this sum bounds every instant of a replay.
  if (sum_overflows(total_duration_, job.duration) ||
      sum_overflows(total_duration_ + job.duration, latest_submit_)) {
    return "submit times and durations that add up to at most 292 years";
  }
  total_duration_ += job.duration;

  if (!deadline_factor_ || job.deadline) return nullptr;
  std::optional<Nanoseconds> allowed = deadline_factor_->times(job.duration);
  if (!allowed || sum_overflows(*allowed, job.submit)) {
    return "a duration whose deadline (submit + factor x duration) is within 292 years";
  }
  job.deadline = job.submit + *allowed;
  if (!job.hint) job.hint = job.duration;
  return nullptr;
}

}  // namespace bide_jobs
