#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <bide/executor/jobs/job_entry.hpp>
#include <bide/queue/run_queue.hpp>

namespace bide {

/// The ready jobs of a pool, in the order in which they go: that of queue/order.hpp with Aging::on, or, where tenants
/// have weights, that order within the tenant whose turn it is.
///
/// Turns:  of the tenants with a ready job, the one that has had the least of its share, counted in dispatches per
///         weight; equals by name. A tenant that was idle begins at the share of the present turn: it has saved up
///         nothing. Critical jobs go first, whoever's they are; their dispatches count all the same.
/// Cost:   O(classes + log jobs); with weights and O(tenants with a ready job).
/// Source: C. Waldspurger, W. Weihl, "Stride scheduling", 1995
class JobQueue {
 public:
  using Weights = std::map<std::string, std::uint32_t>;

  /// The weights outlive the queue; empty: tenants don't matter.
  explicit JobQueue(const Weights& weights) : weights_(weights) {}

  /// Queues it in the place of its sequence.
  void push(JobEntry& entry) {
    if (fair()) return push_fair(entry);
    queue_.push_in_place(entry);
    ++size_;
  }
  struct Popped {
    JobEntry* entry = nullptr;
    const JobEntry* next = nullptr;  // the best of those that are left
  };
  /// Returns: who goes, and counts it; null when empty.
  Popped pop(Instant now) {
    if (size_ == 0) return {};
    if (fair()) return pop_fair(now);
    --size_;
    const RunQueue::Popped popped = queue_.pop_with_next(now.time_since_epoch());
    return {static_cast<JobEntry*>(popped.node), static_cast<const JobEntry*>(popped.next)};
  }
  /// Who pop would return.
  JobEntry* peek(Instant now);
  /// Who goes first by rank alone.
  JobEntry* best(Instant now);
  void remove(JobEntry& entry);
  void rerank(JobEntry& entry, Priority priority, Urgency* urgency);
  std::size_t size() const { return size_; }

 private:
  struct Tenant {
    std::uint64_t pass = 0;  // what it has had, in strides
    RunQueue queue{RunQueue::Options{.promote_every = 0, .aging = Aging::on}};
  };
  using Tenants = std::map<std::string, Tenant>;

  static constexpr std::uint64_t stride = std::uint64_t{1} << 24U;

  bool fair() const { return !weights_.empty(); }
  void push_fair(JobEntry& entry);
  Popped pop_fair(Instant now);
  std::uint64_t stride_of(const std::string& tenant) const;
  RunQueue& queue_of(const JobEntry& entry);
  Tenants::iterator turn(Instant now);
  void forget_idle();

  const Weights& weights_;
  std::size_t size_ = 0;
  RunQueue queue_{RunQueue::Options{.promote_every = 0, .aging = Aging::on}};  // without weights
  Tenants tenants_;                                                            // with weights
  std::uint64_t present_ = 0;                                                  // the pass of the last turn
};

}  // namespace bide
