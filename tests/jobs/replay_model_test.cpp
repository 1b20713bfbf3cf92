#include "../random.hpp"
#include "jobs_text.hpp"

#include <bide/queue/urgency.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

using bide::Priority;
using bide::test::Random;
using bide_jobs::Decision;
using bide_jobs::Fate;
using bide_jobs::History;
using bide_jobs::Job;
using bide_jobs::Policy;
using bide_jobs::ReplayOptions;
using bide_jobs::Workload;
using Nanoseconds = std::chrono::nanoseconds;

namespace {

/// The replay once more: no green threads and no queue, but lists that are searched from end to end.
class NaiveReplay {
 public:
  NaiveReplay(const Workload& workload, const ReplayOptions& options)
      : jobs_(workload.jobs), options_(options), free_(options.workers) {}

  History run() {
    history_.fates.resize(jobs_.size());
    while (arrived_ < jobs_.size() || !running_.empty()) {
      now_ = next_instant();
      take_back_slots();
      let_arrive();
      fill_slots();
    }
    return history_;
  }

 private:
  Nanoseconds next_instant() const {
    Nanoseconds next = arrived_ < jobs_.size() ? std::max(jobs_[arrived_].submit, now_) : Nanoseconds::max();
    for (std::size_t index : running_)
      next = std::min(next, history_.fates[index].started + jobs_[index].duration);
    return next;
  }

  void take_back_slots() {
    std::vector<std::size_t> still_running;
    for (std::size_t index : running_) {
      if (history_.fates[index].started + jobs_[index].duration > now_) {
        still_running.push_back(index);
        continue;
      }
      history_.fates[index].ended = now_;
      history_.makespan = now_;
      free_ += jobs_[index].slots;
    }
    running_ = still_running;
  }

  void let_arrive() {
    for (; arrived_ < jobs_.size() && jobs_[arrived_].submit <= now_; ++arrived_) {
      Fate& fate = history_.fates[arrived_];
      fate.entered_before = history_.decisions.size();
      bool too_wide = jobs_[arrived_].slots > options_.workers;
      bool full = waiting_.size() >= options_.capacity;
      if (too_wide || full) {
        fate.end = too_wide ? Fate::End::too_wide : Fate::End::queue_full;
        continue;
      }
      fate.sequence = next_sequence_++;
      waiting_.push_back(arrived_);
    }
  }

  void fill_slots() {
    while (free_ > 0 && !waiting_.empty()) {
      if (!head_chosen_) choose();
      std::size_t index = history_.decisions.back().job;
      if (jobs_[index].slots > free_) return;
      head_chosen_ = false;
      waiting_.erase(std::find(waiting_.begin(), waiting_.end(), index));
      free_ -= jobs_[index].slots;
      history_.fates[index].started = now_;
      running_.push_back(index);
    }
  }

  void choose() {
    Decision decision;
    decision.at = now_;
    decision.free_slots = free_;
    decision.job = best(jobs_.size());
    if (waiting_.size() > 1) decision.runner_up = best(decision.job);
    history_.fates[decision.job].decision = history_.decisions.size();
    history_.decisions.push_back(decision);
    head_chosen_ = true;
  }

  Nanoseconds latest_start(std::size_t index) const {
    if (!jobs_[index].deadline) return Nanoseconds::max();
    return *jobs_[index].deadline - jobs_[index].hint.value_or(std::chrono::seconds(1));
  }

  std::int64_t score(std::size_t index) const {
    const Job& job = jobs_[index];
    std::int64_t points = bide::urgency::base(job.priority) + bide::urgency::aging(now_ - job.submit);
    Nanoseconds horizon =
        std::max<Nanoseconds>(job.hint.value_or(std::chrono::seconds(1)), std::chrono::seconds(5));
    return job.deadline ? points + bide::urgency::urgency(latest_start(index), horizon, now_) : points;
  }

  bool stands_before(std::size_t left, std::size_t right) const {
    auto sequence = [&](std::size_t index) { return history_.fates[index].sequence; };
    auto rank = [&](std::size_t index) { return static_cast<int>(jobs_[index].priority); };
    switch (options_.policy) {
      case Policy::fifo:
        return sequence(left) < sequence(right);
      case Policy::strict:
        return std::tuple(-rank(left), sequence(left)) < std::tuple(-rank(right), sequence(right));
      case Policy::edf:
        return std::tuple(latest_start(left), -rank(left), sequence(left)) <
               std::tuple(latest_start(right), -rank(right), sequence(right));
      case Policy::urgency:
        break;
    }
    return std::tuple(-score(left), -rank(left), latest_start(left), sequence(left)) <
           std::tuple(-score(right), -rank(right), latest_start(right), sequence(right));
  }

  /// Whether another waiting job of the same lane stands before it, so that its own score does not count.
  bool hidden(std::size_t index, std::size_t except) const {
    if (options_.policy != Policy::urgency) return false;
    return std::any_of(waiting_.begin(), waiting_.end(), [&](std::size_t other) {
      bool same_lane = jobs_[other].priority == jobs_[index].priority &&
                       jobs_[other].deadline.has_value() == jobs_[index].deadline.has_value();
      return other != except && same_lane &&
             std::tuple(latest_start(other), history_.fates[other].sequence) <
                 std::tuple(latest_start(index), history_.fates[index].sequence);
    });
  }

  std::uint32_t best(std::size_t except) const {
    std::size_t first = jobs_.size();
    for (std::size_t index : waiting_) {
      if (index == except || hidden(index, except)) continue;
      if (first == jobs_.size() || stands_before(index, first)) first = index;
    }
    return static_cast<std::uint32_t>(first);
  }

  const std::vector<Job>& jobs_;
  const ReplayOptions& options_;
  std::int64_t free_;
  Nanoseconds now_{0};
  std::size_t arrived_ = 0;
  std::uint64_t next_sequence_ = 0;
  bool head_chosen_ = false;
  std::vector<std::size_t> waiting_;
  std::vector<std::size_t> running_;
  History history_;
};

Workload random_workload(Random& random) {
  Workload workload;
  std::size_t count = random.below(60);
  std::uint64_t span = 1 + random.below(120);
  auto seconds = [&](std::uint64_t bound) { return std::chrono::seconds(random.below(bound)); };
  for (std::size_t i = 0; i < count; ++i) {
    Job job;
    job.name = std::to_string(i);
    job.line = i + 2;
    job.priority = static_cast<Priority>(random.below(4));
    job.submit = seconds(span);
    job.duration = seconds(random.below(2) == 0 ? 3 : 20);
    job.slots = static_cast<std::int64_t>(1 + random.below(random.below(3) == 0 ? 6 : 2));
    if (random.below(2) == 0) job.deadline = job.submit + seconds(60);
    if (random.below(2) == 0) job.hint = seconds(30);
    workload.jobs.push_back(std::move(job));
  }
  std::sort(workload.jobs.begin(), workload.jobs.end(), [](const Job& a, const Job& b) {
    return a.submit != b.submit ? a.submit < b.submit : a.line < b.line;
  });
  return workload;
}

std::string text_of(const Workload& workload, const History& history) {
  std::string text;
  for (const Decision& decision : history.decisions) {
    text += workload.jobs[decision.job].name + "@" + std::to_string(decision.at.count()) + "/" +
            std::to_string(decision.free_slots) + ">" +
            (decision.runner_up ? workload.jobs[*decision.runner_up].name : "-") + " ";
  }
  for (const Fate& fate : history.fates) {
    text += std::to_string(static_cast<int>(fate.end)) + ":" + std::to_string(fate.sequence) + ":" +
            std::to_string(fate.entered_before) + ":" + std::to_string(fate.decision) + ":" +
            std::to_string(fate.started.count()) + "-" + std::to_string(fate.ended.count()) + " ";
  }
  return text + std::to_string(history.makespan.count());
}

/// What a trace claims must hold: the rule named by `compare` puts the winner before the runner-up.
bool every_rule_holds(const Workload& workload, const History& history, Policy policy) {
  return std::all_of(history.decisions.begin(), history.decisions.end(), [&](const Decision& decision) {
    if (!decision.runner_up) return true;
    auto rank = [&](std::uint32_t index) {
      return rank_of(workload.jobs[index], history.fates[index].sequence, decision.at);
    };
    return compare(policy, rank(decision.job), rank(*decision.runner_up)).left_first;
  });
}

std::uint64_t seed_from_environment(std::uint64_t otherwise) {
  const char* text = std::getenv("BIDE_SEED");
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("Replay: equals a naive event loop over lists, decision by decision") {
  std::uint64_t seed = seed_from_environment(20'261'130);
  Random random(seed);
  for (int round = 0; round < 3000; ++round) {
    Workload workload = random_workload(random);
    ReplayOptions options;
    options.policy = bide_jobs::all_policies[random.below(4)];
    options.workers = static_cast<std::int64_t>(1 + random.below(6));
    options.capacity = random.below(3) == 0 ? random.below(8) : 256;
    History history = replay(workload, options);
    INFO("BIDE_SEED=" << seed << ", round " << round << ", policy " << to_string(options.policy));
    REQUIRE(text_of(workload, history) == text_of(workload, NaiveReplay(workload, options).run()));
    REQUIRE(every_rule_holds(workload, history, options.policy));
  }
}
