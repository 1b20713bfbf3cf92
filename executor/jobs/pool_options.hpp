#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <bide/executor/jobs/autoscaler.hpp>
#include <bide/queue/priority.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// What happens to a job that comes when its class, its pool or the scheduler has no room.
enum class Overflow : std::uint8_t {
  wait,    ///< The submitter waits: FIFO within the job's class, higher classes first, no barging.
  reject,  ///< The submit throws JobRefused.
  /// The newest waiting job of the lowest class strictly below the newcomer's goes (JobStatus::shed); where there is
  /// none, the newcomer is refused.
  shed_lowest,
  /// The oldest waiting job of class `low` goes; where there is none, the newcomer is refused.
  shed_oldest,
};

/// What becomes of a dependency on an id or a key that no live or retained job has.
enum class UnknownParent : std::uint8_t {
  refuse,   ///< The submit throws JobRefused.
  wait,     ///< For a job with that key. An id that is not known will not come: refused.
  skip,     ///< As if the parent had ended otherwise than asked for.
  satisfy,  ///< As if it had ended as asked for.
};

/// How many jobs may wait, that is live and not running, retries and blocked ones included. A retry is never refused:
/// its place was given at the submit.
struct JobBounds {
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  std::size_t in_all = 100'000;
  std::array<std::size_t, priority_count> of_class{none, none, none, none};  ///< By Priority.
  /// Of `in_all`, places kept for this class and higher ones: a job gets a place only while those that higher classes
  /// have kept and not used stay free.
  std::array<std::size_t, priority_count> headroom{};
};

struct PoolOptions {
  std::size_t workers = 1;                       ///< Attempts at once in this process. 0: for leases alone.
  std::optional<AutoscalerOptions> autoscale{};  ///< The count follows the load.
  JobBounds bounds{};
  Overflow overflow = Overflow::wait;
  UnknownParent unknown_parent = UnknownParent::refuse;
  /// Taken for a job without a hint whose kind and pool have taught nothing yet.
  Duration default_duration = std::chrono::seconds(1);
  /// Refuse what Feasibility says would be late.
  enum class Infeasible : std::uint8_t { accept, refuse } infeasible = Infeasible::accept;
  /// Of the workers, how many thousandths may be reserved for fixed starts at one time; at least one worker.
  std::uint32_t reservable_per_mille = 500;
  /// A worker is held for a fixed start this long ahead at most.
  Duration max_hold = std::chrono::seconds(60);
  /// Shares of the pool by tenant; a tenant that is not named has weight 1. Empty: tenants don't matter.
  std::map<std::string, std::uint32_t> tenant_weights{};
};

}  // namespace bide
