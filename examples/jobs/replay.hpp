#pragma once

#include "job.hpp"
#include "policy.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace bide_jobs {

/// What happened to one job.
struct Fate {
  enum class End : std::uint8_t { done, queue_full, too_wide, skipped };

  End end = End::done;
  std::uint64_t sequence = 0;      // in the queue, from 0; a refused job takes none
  std::size_t entered_before = 0;  // decisions made before it entered the queue or was refused
  std::size_t decision = 0;        // the decision that chose it
  Nanoseconds started{0};
  Nanoseconds ended{0};
};

/// `done`, `queue_full`, `too_wide` or `skipped`.
const char* to_string(Fate::End end);

/// One choice of the dispatcher: slots are free, who is next?
struct Decision {
  Nanoseconds at{0};
  std::uint32_t job = 0;
  std::optional<std::uint32_t> runner_up;  // who would have been chosen without `job`
  std::int64_t free_slots = 0;
};

/// A finished replay. `fates` runs parallel to the workload's jobs.
struct History {
  std::vector<Fate> fates;
  std::vector<Decision> decisions;
  Nanoseconds makespan{0};  // the virtual clock when the last job ended
};

struct ReplayOptions {
  Policy policy = Policy::urgency;
  std::int64_t workers = 1;    // slots
  std::size_t capacity = 256;  // jobs that may wait at once
  /// Called now and then with the number of jobs that are finished with. May be empty.
  std::function<void(std::size_t)> on_progress;
};

/// Runs the workload in virtual time on one executor.
///
/// Each job arrives at its submit time, waits, holds its slots for its duration, and gives them back.
/// Order: at one instant jobs that end give back their slots first, then arrivals enter the queue, then the
///        dispatcher chooses; so a choice sees all that happened at its instant. A job of duration zero ends
///        at the instant at which it starts, which may bring a further round at that instant.
///
/// A choice is made when a slot is free. The chosen job stays at the head of the queue until all its slots
/// are free, and nothing overtakes it: not a later arrival either, whatever its class. A job that arrives
/// when `capacity` jobs wait (the head among them), or that needs more than `workers` slots, is refused and
/// changes nothing.
///
/// A job with parents (Job::after) enters when it has arrived and they have ended; within an instant that is when the
/// last one ends, before arrivals. It is skipped when a parent ends otherwise than it needs. A done job is a success, a
/// refused one a failure.
History replay(const Workload& workload, const ReplayOptions& options);

}  // namespace bide_jobs
