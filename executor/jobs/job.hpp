#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/jobs/job_work.hpp>
#include <bide/queue/priority.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// When a failed attempt is followed by another. A retry is a new ticket: it waits from zero, behind all that is
/// queued, with the job's deadline.
struct RetryPolicy {
  enum class Jitter : std::uint8_t {
    none,
    full,  ///< Anything from 0 to the backoff, from the scheduler's seeded source.
  };
  struct Ratio {
    std::uint32_t numerator = 2;
    std::uint32_t denominator = 1;
    friend bool operator==(const Ratio&, const Ratio&) = default;
  };

  std::uint32_t max_attempts = 1;  ///< In all; 0 counts as 1.
  Duration initial_backoff = std::chrono::milliseconds(500);
  Ratio multiplier{};  ///< Of each backoff to the one before; below 1 counts as 1.
  Duration max_backoff = std::chrono::seconds(30);
  Jitter jitter = Jitter::full;

  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

/// Another job has to end first, and how.
struct Dependency {
  enum class On : std::uint8_t {
    success,
    completion,  ///< Any end will do.
    failure,     ///< It has failed or is a dead letter.
  };

  explicit Dependency(JobId parent, On when = On::success) : id(parent), on(when) {}
  explicit Dependency(std::string parent, On when = On::success) : key(std::move(parent)), on(when) {}

  JobId id = 0;     ///< 0: the job is named by its key.
  std::string key;  ///< Of a job that is live, retained, or yet to come (PoolOptions::unknown_parent).
  On on = On::success;

  friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// Starts at an instant, on a worker that is kept free for it.
struct FixedStart {
  enum class Missed : std::uint8_t {
    run_late,
    skip,  ///< JobStatus::missed.
    fail,  ///< JobStatus::failed.
  };

  Instant at{};
  Duration tolerance = std::chrono::seconds(1);  ///< Later than this is missed.
  Missed missed = Missed::run_late;

  friend bool operator==(const FixedStart&, const FixedStart&) = default;
};

/// What an attempt takes of a semaphore (given back at its end) or token bucket (gone) of the scheduler.
struct ResourceUse {
  explicit ResourceUse(std::string resource, std::uint64_t amount = 1)
      : name(std::move(resource)), count(amount) {}

  std::string name;
  std::uint64_t count;

  friend bool operator==(const ResourceUse&, const ResourceUse&) = default;
};

/// Work for a JobScheduler, and all that decides when it runs.
///
///     Job job(resize, std::string("cat.png"), 200);
///     job.priority = Priority::high;
///     job.deadline_in = 10s;
///     JobHandle handle = co_await scheduler.submit(std::move(job));
///
/// Not an aggregate on purpose: g++ 12 destroys a braced temporary in a co_await expression twice.
struct Job {
  Job() = default;
  /// With work: `function(JobContext&, arguments...)` returns Task<JobOutcome>.
  template <class F, class... Args>
  requires std::constructible_from<JobWork, F, Args...>
  explicit Job(F&& function, Args&&... arguments)
      : work(std::forward<F>(function), std::forward<Args>(arguments)...) {}

  std::string kind = "default";  ///< What durations are learned by, and handlers are found by.
  std::string pool = "default";
  JobWork work;         ///< None: the handler of the kind, with the payload. A durable job has none.
  std::string payload;  ///< For the handler; survives a restart.

  Priority priority = Priority::normal;
  std::optional<Instant> deadline;
  std::optional<Duration> deadline_in;  ///< From the submit; with both, the earlier counts.
  /// How long an attempt takes. Less than zero counts as zero; more than has been learned of the kind is not believed.
  std::optional<Duration> duration_hint;
  std::optional<Duration>
      timeout;  ///< Of each attempt: then it is cancelled, and fails in a way that may be retried.
  std::optional<FixedStart> start;

  RetryPolicy retry{};
  std::vector<Dependency> after;
  std::vector<ResourceUse> resources;

  /// At most one live or retained job has it: a second submit gets the first job's handle.
  std::string key;
  std::string tenant;
  std::map<std::string, std::string> labels;
};

}  // namespace bide
