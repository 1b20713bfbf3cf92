#pragma once

#include "job.hpp"

#include <bide/queue/order.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bide_jobs {

/// Who goes first among the waiting jobs.
///
/// fifo     by sequence, the order of arrival
/// strict   by class, then sequence
/// urgency  as bide's RunQueue with aging: in a class the jobs with a deadline by latest start, the others
///          by sequence; between the first ones of these lanes by score
/// edf      by latest start time (none is last), then class, then sequence
enum class Policy : std::uint8_t { fifo, strict, urgency, edf };

inline constexpr std::array<Policy, 4> all_policies = {Policy::fifo, Policy::strict, Policy::urgency,
                                                       Policy::edf};

const char* to_string(Policy policy);
std::optional<Policy> parse_policy(std::string_view name);

/// What put one job before another.
enum class Rule : std::uint8_t { alone, score, priority, latest_start, sequence };

/// The word for it in output: alone, score, class, lst, sequence.
const char* to_string(Rule rule);

/// Deadline minus hint (one second where there is none); Urgency::none without a deadline.
Nanoseconds latest_start_of(const Job& job);

/// What a policy looks at, for a job that waits at `now` with this sequence. The score is that of
/// Policy::urgency.
bide::Rank rank_of(const Job& job, std::uint64_t sequence, Nanoseconds now);

/// Whether the two wait in one lane of Policy::urgency: same class, both with or both without a deadline.
bool share_a_lane(const bide::Rank& left, const bide::Rank& right);

struct Verdict {
  bool left_first;
  Rule rule;
};

/// Compares two waiting jobs, each at the head of its lane or both in the same.
/// Requires: different sequences, so one of them goes first.
Verdict compare(Policy policy, const bide::Rank& left, const bide::Rank& right);

}  // namespace bide_jobs
