#pragma once

#include <cstdint>

#include <bide/queue/priority.hpp>
#include <bide/queue/urgency.hpp>

namespace bide {

/// The array of a RunQueue that holds a node.
enum class Lane : std::uint8_t {
  none,      ///< Not queued.
  fifo,      ///< The ring of its class.
  late,      ///< The heap by sequence of its class: it came by promotion or re-ranking, behind younger ones.
  on_time,   ///< The ring by (latest start, sequence) of its class.
  deadline,  ///< The heap by (latest start, sequence) of its class: it came behind one that may start later.
};

/// The part of a green thread (or a ticket, or a job) that a RunQueue orders. Derive from it.
///
/// Owns:     nothing; the queue holds a pointer to it, so it stays where it is while queued.
/// Requires: while queued, `priority` and `urgency` change only through RunQueue::rerank.
/// Cost:     24 bytes, of which a derived class gets the last two back for its own members.
struct QueueNode {
  // The constructor is what lets a derived class use the padding at the end.
  explicit constexpr QueueNode(Priority priority_of_work = Priority::normal, Urgency* moving = nullptr)
      : urgency(moving), priority(priority_of_work) {}
  QueueNode(const QueueNode&) = delete;
  QueueNode& operator=(const QueueNode&) = delete;

  bool queued() const { return lane != Lane::none; }
  bool has_deadline() const { return urgency != nullptr && urgency->latest_start != Urgency::none; }

  std::uint64_t sequence = 0;  ///< Given by RunQueue::push, kept by everything else.
  Urgency* urgency;            ///< Null: neither deadline nor aging.
  std::uint32_t position = 0;  ///< The queue's while queued, else free for the owner.
  Priority priority;           ///< The class it counts as now.
  Lane lane = Lane::none;
};

}  // namespace bide
