#include "policy.hpp"

#include <bide/queue/urgency.hpp>

namespace bide_jobs {
namespace {

/// Ends the row of comparisons at the first that differs.
class Comparison {
 public:
  template <class Value>
  Comparison& smaller(Rule rule, Value left, Value right) {
    if (!verdict_ && left != right) verdict_ = Verdict{left < right, rule};
    return *this;
  }
  template <class Value>
  Comparison& greater(Rule rule, Value left, Value right) {
    return smaller(rule, right, left);
  }
  Verdict verdict() const { return verdict_.value_or(Verdict{true, Rule::sequence}); }

 private:
  std::optional<Verdict> verdict_;
};

}  // namespace

const char* to_string(Policy policy) {
  constexpr std::array<const char*, 4> names = {"fifo", "strict", "urgency", "edf"};
  return names[static_cast<std::size_t>(policy)];
}

std::optional<Policy> parse_policy(std::string_view name) {
  for (Policy policy : all_policies) {
    if (name == to_string(policy)) return policy;
  }
  return std::nullopt;
}

const char* to_string(Rule rule) {
  constexpr std::array<const char*, 5> names = {"alone", "score", "class", "lst", "sequence"};
  return names[static_cast<std::size_t>(rule)];
}

Nanoseconds latest_start_of(const Job& job) {
  if (!job.deadline) return bide::Urgency::none;
  return bide::urgency::latest_start(*job.deadline, job.hint.value_or(bide::urgency::default_estimate));
}

bide::Rank rank_of(const Job& job, std::uint64_t sequence, Nanoseconds now) {
  bide::Urgency urgency{.latest_start = latest_start_of(job),
                        .horizon = bide::urgency::horizon(job.hint.value_or(bide::urgency::default_estimate)),
                        .waiting_since = job.submit};
  return {.score = bide::urgency::score(job.priority, &urgency, now, bide::Aging::on),
          .priority = job.priority,
          .latest_start = urgency.latest_start,
          .sequence = sequence};
}

bool share_a_lane(const bide::Rank& left, const bide::Rank& right) {
  bool left_has_deadline = left.latest_start != bide::Urgency::none;
  bool right_has_deadline = right.latest_start != bide::Urgency::none;
  return left.priority == right.priority && left_has_deadline == right_has_deadline;
}

Verdict compare(Policy policy, const bide::Rank& left, const bide::Rank& right) {
  Comparison row;
  bool by_score = policy == Policy::urgency && !share_a_lane(left, right);
  if (by_score) row.greater(Rule::score, left.score, right.score);
  if (policy == Policy::edf) row.smaller(Rule::latest_start, left.latest_start, right.latest_start);
  if (policy != Policy::fifo) row.greater(Rule::priority, left.priority, right.priority);
  if (policy == Policy::urgency) row.smaller(Rule::latest_start, left.latest_start, right.latest_start);
  row.smaller(Rule::sequence, left.sequence, right.sequence);
  return row.verdict();
}

}  // namespace bide_jobs
