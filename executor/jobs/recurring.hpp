#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <bide/executor/jobs/job.hpp>

namespace bide {

/// A job that is submitted again and again.
///
///     Recurring nightly("nightly", Job(back_up));
///     nightly.cron = "30 2 * * *";
///     nightly.zone = "Europe/Berlin";
///     scheduler.every(std::move(nightly));
///
/// Each occurrence is a copy of the template with the key `NAME@START`, START in UTC (RFC 3339): a restart within
/// the second submits none twice. The template has no deadline, fixed start, key or dependencies of its own, and with
/// a store no work.
struct Recurring {
  enum class Overlap : std::uint8_t {
    skip,   ///< An occurrence that comes while the one before is live is left out, and counted.
    allow,  ///< It is submitted all the same.
    queue,  ///< It is submitted behind the one before, as a job that depends on its completion.
  };
  /// What becomes of the occurrences whose time went by while no process, or a busy one, looked at the clock.
  enum class Missed : std::uint8_t {
    skip,      ///< Left out.
    run_late,  ///< The latest of them is submitted at once, with a deadline that counts from its own time.
  };

  Recurring(std::string of, Job what) : name(std::move(of)), job(std::move(what)) {}

  std::string name;
  Job job;
  /// From the first occurrence on, that one `interval` after the call. Exactly one of interval and cron is set.
  std::optional<Duration> interval;
  std::string cron;                        ///< 5 fields, or 6 with leading seconds: cron.hpp.
  std::string zone = "UTC";                ///< An IANA name; for cron.
  std::optional<Duration> deadline_after;  ///< From the start of each occurrence.
  Overlap overlap = Overlap::skip;
  Missed missed = Missed::skip;
};

/// A recurring job, and how far it has come.
struct RecurringState {
  Recurring recurring;
  std::optional<Instant> next;  ///< None where time ends.
  std::uint64_t skipped = 0;    ///< Left out by this process: by the overlap rule, or refused.
};

}  // namespace bide
