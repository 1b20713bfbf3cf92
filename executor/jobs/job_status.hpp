#pragma once

#include <cstddef>
#include <cstdint>

namespace bide {

// g++ 12 takes the enumerator `running` for one that hides the global of that name; a scoped one hides nothing.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

/// Where a job stands. A live one has an end ahead of it; an ended one has had its one end.
enum class JobStatus : std::uint8_t {
  blocked,    ///< Waits for the jobs that it depends on.
  scheduled,  ///< Waits for its fixed start.
  ready,      ///< Queued: goes when a worker is free and its resources are there.
  running,    ///< An attempt is under way, here or with the holder of a lease.
  retrying,   ///< An attempt has failed; the next waits for its time.

  succeeded,
  failed,         ///< For good: no retry would help.
  dead_lettered,  ///< The last of its attempts has failed in a way that a retry might have helped.
  cancelled,
  skipped,  ///< A job that it depends on has ended otherwise than the dependency asks for.
  missed,   ///< Its fixed start went by, and FixedStart says to skip it then.
  shed,     ///< Made room for a more important one (Overflow::shed_lowest, shed_oldest).
};

#pragma GCC diagnostic pop

inline constexpr std::size_t job_status_count = 12;

constexpr bool is_live(JobStatus status) { return status <= JobStatus::retrying; }
constexpr bool is_ended(JobStatus status) { return !is_live(status); }

/// As the enumerator reads.
constexpr const char* to_string(JobStatus status) {
  constexpr const char* names[job_status_count] = {
      "blocked", "scheduled",     "ready",     "running", "retrying", "succeeded",
      "failed",  "dead_lettered", "cancelled", "skipped", "missed",   "shed",
  };
  return names[static_cast<std::size_t>(status)];
}

}  // namespace bide
