#pragma once

#include "policy.hpp"

#include <bide/queue/run_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace bide_jobs {

/// The jobs that wait for slots, in the order of a policy. Jobs are indices into a workload.
///
/// fifo, strict and urgency are three uses of bide's RunQueue: one class only; classes; classes, deadlines
/// and aging. edf, where a latest start time goes before any class, is a heap of its own. Cost: O(log n);
/// memory grows with the most jobs that ever waited at once.
class WaitingJobs {
 public:
  explicit WaitingJobs(Policy policy);

  /// Returns: the sequence, counted from 0, that the job took.
  std::uint64_t push(std::uint32_t index, const Job& job);

  /// Takes out the job that goes first at `now`. Requires: not empty.
  std::uint32_t pop(Nanoseconds now);

  /// What pop would give; nothing when empty.
  std::optional<std::uint32_t> peek(Nanoseconds now) const;

  std::size_t size() const { return policy_ == Policy::edf ? by_latest_start_.size() : queue_.size(); }
  bool empty() const { return size() == 0; }

 private:
  struct Place : bide::QueueNode {
    bide::Urgency moving;
    std::uint32_t job = 0;
  };
  struct LatestStart {
    Nanoseconds latest_start;
    Priority priority;
    std::uint32_t job;
    std::uint64_t sequence;
  };
  static bool goes_after(const LatestStart& left, const LatestStart& right);

  Place& free_place();

  Policy policy_;
  bide::RunQueue queue_;
  std::deque<Place> places_;  // never move: the queue points to them
  std::vector<Place*> free_places_;
  std::vector<LatestStart> by_latest_start_;
  std::uint64_t next_sequence_ = 0;  // of by_latest_start_
};

}  // namespace bide_jobs
