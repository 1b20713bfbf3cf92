#pragma once

#include "job.hpp"
#include "time_text.hpp"

#include <optional>

namespace bide_jobs {

/// What both readers do with a job once its own fields are read: keep the workload's times in bounds and give
/// it the deadline of `--deadline-factor`.
class JobBounds {
 public:
  explicit JobBounds(std::optional<Factor> deadline_factor) : deadline_factor_(deadline_factor) {}

  /// Returns: nullptr, or what was expected of the job's duration.
  ///
  /// A job without a deadline gets submit + factor x duration. Whoever derives a deadline from the duration
  /// knows the duration: unless the job has a hint, it becomes the hint.
  const char* complete(Job& job);

 private:
  std::optional<Factor> deadline_factor_;
  Nanoseconds latest_submit_{0};
  Nanoseconds total_duration_{0};
};

}  // namespace bide_jobs
