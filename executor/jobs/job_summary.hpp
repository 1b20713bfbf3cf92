#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <bide/executor/jobs/job_context.hpp>
#include <bide/executor/jobs/job_outcome.hpp>
#include <bide/queue/priority.hpp>

namespace bide {

/// How a job stands, for whoever lists them.
struct JobSummary {
  JobId id = 0;
  JobStatus status = JobStatus::ready;
  std::string kind;
  std::string pool;
  std::string key;
  std::string tenant;
  std::map<std::string, std::string> labels;
  Priority priority = Priority::normal;
  Priority effective_priority = Priority::normal;  ///< With what it inherits.
  std::uint32_t attempts = 0;
  Duration estimate{};
  Instant submitted{};
  std::optional<Instant> deadline;
  std::optional<Instant> latest_start;
  std::optional<Instant> due;      ///< Of a job that is scheduled or retrying: when it goes on.
  std::optional<Instant> started;  ///< The last attempt.
  std::optional<Instant> ended;
  std::string payload;
  JobOutcome outcome;  ///< Of the last attempt that ended.
};

/// Which jobs to list: all members that are set have to fit.
struct JobFilter {
  std::optional<JobStatus> status;
  std::string pool;  ///< Empty: any; as are the next two.
  std::string kind;
  std::string tenant;
  JobId after = 0;  ///< Those with a greater id: the next page.
  std::size_t limit = 1'000;
  enum class Order : std::uint8_t {
    id,
    urgency,   ///< Ready jobs alone, by rank: who would go next, were tenants and resources not.
    deadline,  ///< Live jobs that have one, the earliest first.
  } order = Order::id;
};

struct PoolState {
  std::string name;
  std::size_t workers = 0;
  std::size_t running = 0;  ///< On workers.
  std::size_t leased = 0;
  std::size_t ready = 0;
  std::size_t waiting = 0;     ///< Live and not running, ready ones included: what bounds count.
  std::size_t submitters = 0;  ///< Wait for room.
  std::size_t reserved = 0;    ///< Fixed starts that hold a worker, now or later.
  Duration longest_wait{};     ///< Of the ready jobs.
};

}  // namespace bide
