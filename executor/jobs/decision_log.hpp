#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bide/executor/jobs/job_context.hpp>
#include <bide/queue/order.hpp>

namespace bide {

/// One of the jobs that a dispatch chose between, with each term of its score at that instant.
struct Contender {
  JobId id = 0;
  Priority priority = Priority::normal;  ///< It counted as this: its own class, or one that it inherits.
  urgency::Score base = 0;
  urgency::Score aging = 0;
  urgency::Score urgency = 0;
  std::optional<Instant> latest_start;
  std::uint64_t sequence = 0;

  urgency::Score score() const { return base + aging + urgency; }
};

/// What decided between winner and runner-up.
enum class DecisionRule : std::uint8_t {
  only_one,      ///< Nothing else could have gone.
  fixed_start,   ///< Its time had come, and a worker was held for it.
  tenant_share,  ///< Its tenant had had less of its share.
  lane,          ///< Both have deadlines and one class: the earlier latest start, whatever the scores.
  score,
  priority,      ///< Equal scores: the higher class.
  latest_start,  ///< Equal scores and classes: the earlier latest start.
  sequence,      ///< Else who came first.
};

const char* to_string(DecisionRule rule);

/// What says that the first of two jobs of a pool goes before the second, if nothing but their ranks counts;
/// `tenant_share` where the ranks say otherwise.
DecisionRule rule_between(const Contender& winner, const Contender& other);

/// One dispatch: who went, who would have gone, and why.
struct Decision {
  std::uint64_t number = 0;  ///< From 1, over all pools.
  Instant at{};
  std::string pool;
  Contender winner;
  std::optional<Contender> runner_up;
  DecisionRule rule = DecisionRule::only_one;
};

/// "7 (high) went before 12 (low) at 3 s: score 1004 (base 1000, aging 4, urgency 0) against 14 (...)".
std::string to_string(const Decision& decision);

}  // namespace bide
