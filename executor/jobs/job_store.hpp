#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bide/executor/jobs/job.hpp>
#include <bide/executor/jobs/job_outcome.hpp>
#include <bide/executor/jobs/recurring.hpp>

namespace bide {

/// Nanoseconds since 1970, UTC: the executor's clock means nothing to the next process.
using WallTime = std::int64_t;

/// A job as it is kept: everything of a Job but work, which can't be.
struct StoredJob {
  JobId id = 0;
  WallTime submitted = 0;
  std::string kind;
  std::string pool;
  std::string payload;
  Priority priority = Priority::normal;
  std::optional<WallTime> deadline;
  std::optional<Duration> duration_hint;
  std::optional<Duration> timeout;
  std::optional<WallTime> start_at;
  Duration start_tolerance{};
  FixedStart::Missed start_missed = FixedStart::Missed::run_late;
  RetryPolicy retry{};
  std::vector<Dependency> after;
  std::vector<ResourceUse> resources;
  std::string key;
  std::string tenant;
  std::map<std::string, std::string> labels;

  friend bool operator==(const StoredJob&, const StoredJob&) = default;
};

/// A Recurring as it is kept, and how far it has come.
struct StoredRecurring {
  std::string name;
  StoredJob job;       ///< The template; what it may not have is empty, as are id and submit.
  WallTime since = 0;  ///< The first interval begins here.
  std::optional<Duration> interval;
  std::string cron;
  std::string zone;
  std::optional<Duration> deadline_after;
  Recurring::Overlap overlap = Recurring::Overlap::skip;
  Recurring::Missed missed = Recurring::Missed::skip;
  /// What was to come up to here has been submitted or left out. With Missed::skip the last that was submitted.
  WallTime reached = 0;
  JobId latest = 0;  ///< The job of the latest occurrence that was submitted; 0: none was.

  friend bool operator==(const StoredRecurring&, const StoredRecurring&) = default;
};

/// One thing that has happened to a job, or to what recurs. Which members count is said at each kind.
struct JobRecord {
  enum class Kind : std::uint8_t {
    accepted,        ///< job. A second one of an id is an error.
    started,         ///< id, attempt, at.
    ended,           ///< id, attempt, at, status, outcome, next_attempt where status is `retrying`.
    resubmitted,     ///< id, at: a dead letter is live again. Its attempts count from those that it had.
    removed,         ///< id: nothing of it is needed any more.
    recurs,          ///< recurring. A second one of a name is an error.
    recurred,        ///< recurring, of which the name counts; at: reached. id: latest, where it is not 0.
    recurs_no_more,  ///< recurring, of which the name counts.
  };

  Kind kind = Kind::accepted;
  JobId id = 0;
  std::uint32_t attempt = 0;
  WallTime at = 0;
  JobStatus status = JobStatus::ready;
  JobOutcome outcome;
  std::optional<WallTime> next_attempt;
  StoredJob job;
  std::shared_ptr<const StoredRecurring> recurring;
};

/// A job as a store gives it back.
struct StoredState {
  struct Entry {
    StoredJob job;
    /// `running`: an attempt was in flight. `ready`: none began, or it was resubmitted. `retrying`, or an end.
    JobStatus status = JobStatus::ready;
    std::uint32_t attempts = 0;         ///< The highest attempt number that was started.
    std::uint32_t failed_attempts = 0;  ///< Of those, how many ended in failure since the last resubmit.
    std::optional<WallTime> next_attempt;
    std::optional<WallTime> started;  ///< The last attempt.
    std::optional<WallTime> ended;
    JobOutcome outcome;  ///< Of the last attempt that ended.
  };

  std::vector<Entry> jobs;  ///< All that were not removed, by id: the order in which they were accepted.
  JobId last_id = 0;        ///< The highest that was ever accepted, removed ones included; 0: none.
  std::vector<StoredRecurring> recurring;  ///< By name.
};

/// The door to what survives the process. SqliteJobStore is one; a test has its own.
///
/// Threads: one call at a time; `load` on the executor's OS thread, `write` on one of the blocking pool.
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// Blocks. Called once, before any write.
  /// Throws: what says which file, and what is wrong with it.
  virtual StoredState load() = 0;

  /// All of the batch, in its order, or nothing: one transaction, on the disk when this returns. Blocks.
  /// Throws: what says which file, and what is wrong with it.
  virtual void write(std::span<const JobRecord> batch) = 0;

 protected:
  JobStore() = default;
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
};

}  // namespace bide
