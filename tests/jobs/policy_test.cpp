#include "policy.hpp"

#include <bide/queue/urgency.hpp>

#include <catch2/catch.hpp>

using bide_jobs::compare;
using bide_jobs::Job;
using bide_jobs::Policy;
using bide_jobs::Priority;
using bide_jobs::rank_of;
using bide_jobs::Rule;
using namespace std::chrono_literals;

namespace {

/// A job that has waited `wait` at `now` = 1000 s and whose latest start is `slack` ahead.
bide::Rank rank_at_1000(Priority priority, std::chrono::seconds wait, std::chrono::seconds estimate,
                        std::chrono::seconds slack, std::uint64_t sequence) {
  Job job;
  job.priority = priority;
  job.submit = 1000s - wait;
  job.hint = estimate;
  job.deadline = 1000s + slack + estimate;
  return rank_of(job, sequence, 1000s);
}

bide::Rank plain(Priority priority, std::uint64_t sequence) {
  Job job;
  job.priority = priority;
  return rank_of(job, sequence, 0s);
}

bool first_by(Policy policy, Rule rule, const bide::Rank& first, const bide::Rank& second) {
  bide_jobs::Verdict forth = compare(policy, first, second);
  bide_jobs::Verdict back = compare(policy, second, first);
  return forth.left_first && !back.left_first && forth.rule == rule && back.rule == rule;
}

}  // namespace

TEST_CASE("Policy: names are read back, others are none") {
  for (Policy policy : bide_jobs::all_policies) CHECK(bide_jobs::parse_policy(to_string(policy)) == policy);
  CHECK_FALSE(bide_jobs::parse_policy("lifo").has_value());
  CHECK_FALSE(bide_jobs::parse_policy("").has_value());
}

TEST_CASE("Policy: fifo looks at the sequence alone") {
  CHECK(first_by(Policy::fifo, Rule::sequence, plain(Priority::low, 1), plain(Priority::critical, 2)));
}

TEST_CASE("Policy: strict goes by class, then sequence") {
  CHECK(first_by(Policy::strict, Rule::priority, plain(Priority::high, 9), plain(Priority::normal, 1)));
  CHECK(first_by(Policy::strict, Rule::sequence, plain(Priority::high, 1), plain(Priority::high, 9)));
}

TEST_CASE("Policy: edf goes by latest start, none is last, then class, then sequence") {
  bide::Rank early = rank_at_1000(Priority::low, 0s, 1s, 10s, 9);
  bide::Rank late = rank_at_1000(Priority::critical, 0s, 1s, 20s, 1);
  CHECK(first_by(Policy::edf, Rule::latest_start, early, late));
  CHECK(first_by(Policy::edf, Rule::latest_start, early, plain(Priority::critical, 0)));
  CHECK(first_by(Policy::edf, Rule::priority, plain(Priority::high, 9), plain(Priority::normal, 1)));
  CHECK(first_by(Policy::edf, Rule::priority, rank_at_1000(Priority::high, 0s, 1s, 10s, 10), early));
  CHECK(first_by(Policy::edf, Rule::sequence, plain(Priority::high, 1), plain(Priority::high, 9)));
}

TEST_CASE("Policy: urgency compares scores between lanes, latest starts within one") {
  bide::Rank soon = rank_at_1000(Priority::low, 0s, 1s, 1s, 9);         // 10 + 4000
  bide::Rank broad = rank_at_1000(Priority::normal, 0s, 100s, 50s, 1);  // 100 + 2500
  bide::Rank brief = rank_at_1000(Priority::normal, 0s, 1s, 6s, 2);  // 100 + 0, but an earlier latest start
  CHECK(first_by(Policy::urgency, Rule::score, soon, broad));
  CHECK(first_by(Policy::urgency, Rule::latest_start, brief, broad));
  CHECK(brief.score < broad.score);
  CHECK(first_by(Policy::urgency, Rule::sequence, plain(Priority::low, 3), plain(Priority::low, 4)));
}

TEST_CASE("Policy: exact ties of the score go to the higher class (vectors F1 to F4)") {
  auto high = [](std::chrono::seconds slack) { return rank_at_1000(Priority::high, 0s, 5s, slack, 9); };
  auto normal = [](std::chrono::seconds wait, std::chrono::seconds estimate, std::chrono::seconds slack) {
    return rank_at_1000(Priority::normal, wait, estimate, slack, 1);
  };
  CHECK(high(2s).score == bide::urgency::points(4000));
  CHECK(first_by(Policy::urgency, Rule::priority, high(2s), normal(250s, 25s, 8s)));
  CHECK(first_by(Policy::urgency, Rule::priority, high(2s), normal(300s, 50s, 17s)));
  CHECK(first_by(Policy::urgency, Rule::priority, high(3s), normal(0s, 50s, 21s)));
  CHECK(first_by(Policy::urgency, Rule::priority, high(3s), normal(50s, 25s, 11s)));
}

TEST_CASE("Policy: a latest start is deadline minus hint, or minus one second (vectors U1, U2)") {
  Job job;
  CHECK(bide_jobs::latest_start_of(job) == bide::Urgency::none);
  job.deadline = 600s;
  job.hint = 120s;
  CHECK(bide_jobs::latest_start_of(job) == 480s);
  job.deadline = 3600s;
  job.hint.reset();
  CHECK(bide_jobs::latest_start_of(job) == 3599s);
  job.deadline = 10s;
  job.hint = 20s;
  CHECK(bide_jobs::latest_start_of(job) == -10s);
}
