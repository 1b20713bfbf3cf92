#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include <bide/queue/priority.hpp>
#include <bide/queue/saturating.hpp>

namespace bide {

/// What moves a node's score with time. Owned by whoever queues the node; must outlive its stay in the queue.
///
/// Several nodes may share one (a mutex holder runs at the urgency of a waiter): the queue never writes it.
/// Units: nanoseconds since an epoch that the caller chooses, one for all nodes of a queue.
struct Urgency {
  /// A latest start of `none` is no deadline.
  static constexpr std::chrono::nanoseconds none = std::chrono::nanoseconds::max();

  std::chrono::nanoseconds latest_start = none;
  std::chrono::nanoseconds horizon = std::chrono::seconds(5);  ///< Of urgency::horizon.
  std::chrono::nanoseconds waiting_since = std::chrono::nanoseconds::zero();
};

/// Whether the time a node has waited raises its score.
enum class Aging : std::uint8_t { off, on };

/// Deadlines and waiting as points, in integers: every compiler agrees and an exact tie is a tie.
///
/// Every function takes the whole range of its arguments: differences saturate, nothing overflows. Results
/// round towards zero, each term for itself.
///
///     latest start = deadline - estimate          horizon = max(estimate, 5 s)
///     slack = latest start - now
///
///     8000             ____  after 30 s
///     5000       ____/       100 a second
///              /
///        0 ___/
///            H    0  slack
namespace urgency {

/// Thousandths of a point.
using Score = std::int64_t;

constexpr Score points(std::int64_t count) { return count * 1000; }

inline constexpr Score aging_cap = points(800);
inline constexpr Score urgency_at_latest_start = points(5000);
inline constexpr Score overdue_cap = points(3000);
inline constexpr Score urgency_cap = urgency_at_latest_start + overdue_cap;

/// The shortest time over which urgency rises.
inline constexpr std::chrono::nanoseconds minimum_horizon = std::chrono::seconds(5);
/// Taken for work that states no estimate.
inline constexpr std::chrono::nanoseconds default_estimate = std::chrono::seconds(1);

constexpr Score base(Priority priority) {
  constexpr Score scores[priority_count] = {points(10), points(100), points(1000), points(10000)};
  return scores[static_cast<std::size_t>(priority)];
}

/// 2 points a second, at most 800; a wait below zero counts as zero.
constexpr Score aging(std::chrono::nanoseconds wait) {
  constexpr std::int64_t nanoseconds_each = 500'000;
  return std::clamp<Score>(wait.count() / nanoseconds_each, 0, aging_cap);
}

/// When work with this deadline has to start; an estimate below zero counts as zero.
/// A deadline of `Urgency::none` stays none.
constexpr std::chrono::nanoseconds latest_start(std::chrono::nanoseconds deadline,
                                                std::chrono::nanoseconds estimate = default_estimate) {
  if (deadline == Urgency::none) return Urgency::none;
  return subtract_saturating(deadline, std::max(estimate, std::chrono::nanoseconds::zero()));
}

/// How long before its latest start work begins to be urgent.
constexpr std::chrono::nanoseconds horizon(std::chrono::nanoseconds estimate) {
  return std::max(estimate, minimum_horizon);
}

/// 0 until `horizon` before the latest start, from there linearly to 5000 points at the latest start, then
/// 100 points a second up to 8000. Never decreases with `now`. With a horizon of zero and less it is a step.
constexpr Score urgency(std::chrono::nanoseconds latest_start, std::chrono::nanoseconds horizon,
                        std::chrono::nanoseconds now) {
  if (latest_start == Urgency::none) return 0;
  if (now >= latest_start) {
    constexpr std::int64_t nanoseconds_each = 10'000;
    const Score overdue = subtract_saturating(now, latest_start).count() / nanoseconds_each;
    return urgency_at_latest_start + std::min(overdue, overdue_cap);
  }
  const std::chrono::nanoseconds slack = subtract_saturating(latest_start, now);
  if (slack >= horizon) return 0;

  const std::int64_t risen = (horizon - slack).count();  // 0 < slack < horizon: can't overflow
  // The product leaves 64 bits above 1,844 s; below that the narrow division is several times cheaper.
  if (risen <= std::numeric_limits<std::int64_t>::max() / urgency_at_latest_start)
    return urgency_at_latest_start * risen / horizon.count();
  __extension__ typedef __int128 Wide;
  return static_cast<Score>(Wide{urgency_at_latest_start} * risen / horizon.count());
}

/// Base, aging and urgency together; without an Urgency the base alone.
constexpr Score score(Priority priority, const Urgency* moving, std::chrono::nanoseconds now, Aging waiting) {
  if (moving == nullptr) return base(priority);
  const Score waited = waiting == Aging::on ? aging(subtract_saturating(now, moving->waiting_since)) : 0;
  return base(priority) + waited + urgency(moving->latest_start, moving->horizon, now);
}

/// The most that a node of this class can reach.
constexpr Score ceiling(Priority priority) { return base(priority) + aging_cap + urgency_cap; }

static_assert(base(Priority::critical) > ceiling(Priority::high), "nothing overtakes a critical node");

}  // namespace urgency
}  // namespace bide
