#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <bide/executor/jobs/decision_log.hpp>
#include <bide/executor/jobs/job_entry.hpp>

namespace bide {

/// The latest decisions, as numbers: the terms of their scores are computed when somebody asks.
///
/// Cost: a note copies some 150 bytes; no allocation once the ring is full.
class DecisionRing {
 public:
  explicit DecisionRing(std::size_t capacity) : capacity_(capacity) {}

  bool on() const { return capacity_ != 0; }
  /// `rule` unset: what the ranks of the two say. `runner_up` may be null.
  void note(const JobPool& pool, const JobEntry& winner, const JobEntry* runner_up,
            std::optional<DecisionRule> rule, Instant now) {
    if (next_ == notes_.size()) [[unlikely]]
      notes_.emplace_back();
    Note& note = notes_[next_];
    if (++next_ == capacity_) next_ = 0;
    note.number = ++count_;
    note.at = now;
    note.pool = &pool;
    note.winner = side(winner);
    note.runner_up = runner_up == nullptr ? Side() : side(*runner_up);
    note.rule = rule;
  }
  /// Oldest first.
  std::vector<Decision> decisions() const;
  /// The latest that this job has won.
  std::optional<Decision> won_by(JobId id) const;

  static Contender contender(const QueueNode& node, JobId id, Instant now);

 private:
  struct Side {
    JobId id = 0;
    Priority priority = Priority::normal;
    Urgency urgency{};
    std::uint64_t sequence = 0;
  };
  struct alignas(64) Note {  // two lines of a cache, not three
    std::uint64_t number = 0;
    Instant at{};
    const JobPool* pool = nullptr;
    Side winner;
    Side runner_up;  // id 0: none
    std::optional<DecisionRule> rule;
  };

  static Side side(const JobEntry& entry) {
    return {
        .id = entry.id, .priority = entry.priority, .urgency = *entry.urgency, .sequence = entry.sequence};
  }
  static Contender contender(const Side& side, Instant now);
  static Decision decision(const Note& note);

  std::size_t capacity_;
  std::uint64_t count_ = 0;
  std::size_t next_ = 0;     // count_ modulo capacity
  std::vector<Note> notes_;  // by number modulo capacity
};

}  // namespace bide
