#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <bide/executor/jobs/job_context.hpp>

namespace bide {

/// An attempt that a worker outside of the process has taken on.
///
/// The attempt number is the fence: a report or renewal with another than the job's current one is refused, so a
/// worker that was given up for lost can't end the attempt that took its place.
struct Lease {
  JobId id = 0;
  std::uint32_t attempt = 0;
  std::string kind;
  std::string payload;
  Instant until{};  ///< Then it is lost, and the attempt has failed in a way that may be retried.
  std::optional<Instant> deadline;  ///< Of the job.
  bool cancel_requested = false;    ///< As of `renew`: the job is to be cancelled, end soon.
};

enum class Reported : std::uint8_t {
  accepted,
  stale,    ///< Another attempt has begun since, or the job has ended.
  unknown,  ///< No such job.
};

constexpr const char* to_string(Reported reported) {
  switch (reported) {
    case Reported::accepted:
      return "accepted";
    case Reported::stale:
      return "stale";
    case Reported::unknown:
      return "unknown";
  }
  return "";
}

}  // namespace bide
