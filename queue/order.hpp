#pragma once

#include <chrono>
#include <cstdint>

#include <bide/queue/queue_node.hpp>
#include <bide/queue/urgency.hpp>

namespace bide {

/// What decides between two nodes that head their lanes.
struct Rank {
  urgency::Score score = 0;
  Priority priority = Priority::low;
  std::chrono::nanoseconds latest_start = Urgency::none;
  std::uint64_t sequence = 0;
};

inline Rank rank_of(const QueueNode& node, std::chrono::nanoseconds now, Aging aging) {
  return {.score = urgency::score(node.priority, node.urgency, now, aging),
          .priority = node.priority,
          .latest_start = node.urgency == nullptr ? Urgency::none : node.urgency->latest_start,
          .sequence = node.sequence};
}

/// The one order: higher score, then higher class, then earlier latest start (none is last), then smaller
/// sequence. Total, because a queue gives each sequence once.
///
/// Without deadlines and aging the score is the base of the class, and this is strict (class, sequence).
/// Between two nodes of one class with deadlines the latest start decides even against the score: such a lane
/// is a heap (RunQueue::DeadlineEntry), and only its head is ranked here.
constexpr bool goes_before(const Rank& left, const Rank& right) {
  if (left.score != right.score) return left.score > right.score;
  if (left.priority != right.priority) return left.priority > right.priority;
  if (left.latest_start != right.latest_start) return left.latest_start < right.latest_start;
  return left.sequence < right.sequence;
}

}  // namespace bide
