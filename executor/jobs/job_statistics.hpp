#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bide/executor/jobs/duration_histogram.hpp>
#include <bide/executor/jobs/job_status.hpp>
#include <bide/queue/priority.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// What happened to the jobs of one class in some span of time.
struct ClassStatistics {
  DurationHistogram wait;      // from ready to start, of each attempt
  DurationHistogram run;       // from start to end, of each attempt
  DurationHistogram lateness;  // from the deadline to the end, of each job that missed it
  std::uint64_t submitted = 0;
  std::uint64_t started = 0;                            // attempts
  std::uint64_t met_deadlines = 0;                      // jobs that had one and ended in time
  std::uint64_t missed_deadlines = 0;                   // by any end but a cancel
  std::array<std::uint64_t, job_status_count> ended{};  // jobs, by the status they ended with

  void merge(const ClassStatistics& other);
};

/// What happens to the jobs of one pool, by class: since the start, and in the last few windows of time.
///
/// A window is [k * length, (k + 1) * length) of the executor's time. The present one is told with those before it, so
/// the span told of varies by one length.
/// Order:  `now` does not go back from call to call.
/// Cost:   a record is O(1), but for the first one of a window; no allocation after construction.
///         12.2 KiB for each window and class, two windows more than are kept: 340 KiB with the defaults.
class JobStatistics {
 public:
  struct Options {
    Duration window = std::chrono::minutes(1);  // above zero
    std::size_t windows = 5;                    // kept besides the present one
  };

  JobStatistics() : JobStatistics(Options{}) {}
  explicit JobStatistics(Options options);

  void submitted(Priority priority, Instant now) { ++current(priority, now).submitted; }
  /// An attempt starts that was ready for `wait`.
  void started(Priority priority, Duration wait, Instant now) {
    ClassStatistics& statistics = current(priority, now);
    ++statistics.started;
    statistics.wait.add(wait);
  }
  /// An attempt ends after `run`.
  void ran(Priority priority, Duration run, Instant now) { current(priority, now).run.add(run); }
  /// A job ends. It has met its deadline if it succeeded no later than then.
  void ended(Priority priority, JobStatus status, const Instant* deadline, Instant now) {
    ClassStatistics& statistics = current(priority, now);
    ++statistics.ended[static_cast<std::size_t>(status)];
    if (deadline != nullptr) ended_with_deadline(statistics, status, *deadline, now);
  }

  /// Of the present window and those kept before it.
  ClassStatistics recent(Priority priority, Instant now) const;
  ClassStatistics total(Priority priority) const;

 private:
  using Classes = std::array<ClassStatistics, priority_count>;

  ClassStatistics& current(Priority priority, Instant now) {
    if (now >= end_) [[unlikely]]
      roll(now);
    return windows_[present_][static_cast<std::size_t>(priority)];
  }
  static void ended_with_deadline(ClassStatistics& statistics, JobStatus status, Instant deadline,
                                  Instant now);
  std::int64_t number_of(Instant at) const;
  void roll(Instant now);

  Options options_;
  std::int64_t number_ = 0;       // of the present window
  std::size_t present_ = 0;       // number_ modulo the count of windows: spares a record the division
  Instant end_;                   // of the present window
  std::vector<Classes> windows_;  // by number modulo their count
  Classes closed_;                // all before the present window
};

}  // namespace bide
