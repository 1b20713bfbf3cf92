#pragma once

#include <cstddef>

#include <bide/timers/instant.hpp>

namespace bide {

/// Whether a job would meet its deadline if it were submitted now. An estimate, computed so:
///
///     running  the estimate of each running attempt less the time that it has run, at least zero
///     ahead    the estimates of the ready jobs of the pool that go before it when both are equally urgent: of a
///              higher class, or of its class with a latest start that is not later (without a deadline: all)
///     start    now + (running + ahead) / workers; now, where a worker would be left over
///     end      start + its estimate
///
/// Not in it: what is submitted later, dependencies, resources, retries, tenants, and aging.
///
/// Cost: of each class the `looked_at` that have waited for longest are looked at; the others count as these do on
///       average. And what runs: O(workers).
struct Feasibility {
  static constexpr std::size_t looked_at = 4'096;

  Instant start{};
  Instant end{};
  Duration estimate{};         ///< Taken for this job.
  std::size_t jobs_ahead = 0;  ///< Ready ones that count above.
  Duration late_by{};          ///< Past the deadline; zero when it is feasible or has none.

  bool feasible() const { return late_by == Duration::zero(); }
};

}  // namespace bide
