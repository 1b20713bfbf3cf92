#pragma once

#include <bide/queue/priority.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bide_jobs {

using bide::Priority;
using Nanoseconds = std::chrono::nanoseconds;

/// Another job of the file that this one waits for.
struct After {
  enum class On : std::uint8_t { success, completion, failure };

  std::size_t line = 0;  // of the other job
  On on = On::success;
  friend bool operator==(const After&, const After&) = default;
};

/// One line of a workload. Instants count from the start of the run.
struct Job {
  std::string name;
  std::size_t line = 0;  // in the file, from 1
  Priority priority = Priority::normal;
  Nanoseconds submit{0};
  Nanoseconds duration{0};
  std::optional<Nanoseconds> deadline;  // an instant: when the job should have ended
  std::optional<Nanoseconds> hint;      // how long the scheduler believes that the job takes
  std::int64_t slots = 1;

  std::vector<After> after;
  std::string kind;                    // whose durations teach what this one will take; empty: its name
  std::uint32_t retries = 0;           // how often it is tried again after a failure
  std::optional<Nanoseconds> timeout;  // for one attempt
  std::optional<Nanoseconds> start;    // an instant, at which it has to start
  std::optional<Nanoseconds> every;    // submitted again and again, from `submit` on
  std::string cron;                    // the same by the calendar; empty: not
  std::string tenant;                  // among whom workers are shared out
  std::string command;                 // for /bin/sh
};

/// What a file asks for.
///
/// Order: `jobs` are in the order of their submit times, those of one instant in the order of their lines.
/// Bound: the last submit time plus all durations fits into Nanoseconds, so no instant of a replay overflows.
struct Workload {
  std::string source;
  std::vector<Job> jobs;
  std::size_t unknown_time_count = 0;       // skipped: no submit or run time in the trace
  std::size_t partial_execution_count = 0;  // skipped: a part of a job that has a line of its own
};

}  // namespace bide_jobs
