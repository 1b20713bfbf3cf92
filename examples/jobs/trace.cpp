#include "trace.hpp"

#include "quoted.hpp"
#include "time_text.hpp"

#include <bide/queue/urgency.hpp>

#include <ostream>
#include <string>

namespace bide_jobs {
namespace {

std::string latest_start_text(Nanoseconds latest_start) {
  return latest_start == bide::Urgency::none ? "-" : exact_seconds(latest_start);
}

std::string rank_text(const bide::Rank& rank) {
  return std::string(" class=") + to_string(rank.priority) + " seq=" + std::to_string(rank.sequence) +
         " lst=" + latest_start_text(rank.latest_start) + " score=" + score_text(rank.score);
}

}  // namespace

std::string score_text(bide::urgency::Score score) {
  std::string thousandths = std::to_string(score % 1000);
  thousandths.insert(0, 3 - thousandths.size(), '0');
  return std::to_string(score / 1000) + "." + thousandths;
}

void write_trace(std::ostream& out, const Workload& workload, const History& history, Policy policy) {
  auto rank_at = [&](std::uint32_t index, Nanoseconds now) {
    return rank_of(workload.jobs[index], history.fates[index].sequence, now);
  };
  for (const Decision& decision : history.decisions) {
    const Job& job = workload.jobs[decision.job];
    bide::Rank rank = rank_at(decision.job, decision.at);
    out << "at=" << exact_seconds(decision.at) << " job=" << word(job.name)
        << " start=" << exact_seconds(history.fates[decision.job].started) << rank_text(rank)
        << " slots=" << job.slots << "/" << decision.free_slots;
    if (decision.runner_up) {
      bide::Rank next = rank_at(*decision.runner_up, decision.at);
      out << " next=" << word(workload.jobs[*decision.runner_up].name) << rank_text(next)
          << " rule=" << to_string(compare(policy, rank, next).rule) << "\n";
    } else {
      out << " next=- rule=" << to_string(Rule::alone) << "\n";
    }
  }
}

}  // namespace bide_jobs
