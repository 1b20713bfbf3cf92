#include "trace.hpp"

#include "quoted.hpp"
#include "time_text.hpp"

#include <bide/queue/urgency.hpp>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace bide_jobs {
namespace {

std::string latest_start_text(Nanoseconds latest_start) {
  return latest_start == bide::Urgency::none ? "-" : exact_time(latest_start);
}

std::string rank_text(const bide::Rank& rank) {
  return std::string(" class=") + to_string(rank.priority) + " seq=" + std::to_string(rank.sequence) +
         " lst=" + latest_start_text(rank.latest_start) + " score=" + score_text(rank.score);
}

/// Writes the lines of one replay.
class Tracer {
 public:
  Tracer(std::ostream& out, const Workload& workload, const History& history, const ReplayOptions& options)
      : out_(out),
        workload_(workload),
        history_(history),
        options_(options),
        refusals_(refusals_of(history)) {}

  void write() {
    for (std::size_t decision = 0; decision < history_.decisions.size(); ++decision) {
      write_refusals_until(decision);
      write_decision(history_.decisions[decision]);
    }
    write_refusals_until(history_.decisions.size());
  }

 private:
  static std::vector<std::uint32_t> refusals_of(const History& history);
  void write_refusals_until(std::size_t decision);
  void write_refusal(const Job& job, Fate::End end);
  void write_decision(const Decision& decision);
  bide::Rank rank(std::uint32_t index, Nanoseconds now) const {
    return rank_of(workload_.jobs[index], history_.fates[index].sequence, now);
  }

  std::ostream& out_;
  const Workload& workload_;
  const History& history_;
  const ReplayOptions& options_;
  std::vector<std::uint32_t> refusals_;
  std::size_t written_count_ = 0;  // of them
};

/// In the order in which they happened; those between two decisions in the workload's.
std::vector<std::uint32_t> Tracer::refusals_of(const History& history) {
  std::vector<std::uint32_t> refusals;
  for (std::uint32_t i = 0; i < history.fates.size(); ++i) {
    if (history.fates[i].end != Fate::End::done) refusals.push_back(i);
  }
  std::sort(refusals.begin(), refusals.end(), [&history](std::uint32_t a, std::uint32_t b) {
    const std::size_t first = history.fates[a].entered_before;
    const std::size_t second = history.fates[b].entered_before;
    return first != second ? first < second : a < b;
  });
  return refusals;
}

void Tracer::write_refusals_until(std::size_t decision) {
  for (; written_count_ < refusals_.size(); ++written_count_) {
    const std::uint32_t refused = refusals_[written_count_];
    if (history_.fates[refused].entered_before > decision) return;
    write_refusal(workload_.jobs[refused], history_.fates[refused].end);
  }
}

void Tracer::write_refusal(const Job& job, Fate::End end) {
  out_ << "at=" << exact_time(job.submit) << " job=" << word(job.name) << " refused=" << to_string(end)
       << " line=" << job.line << " class=" << to_string(job.priority);
  if (end == Fate::End::too_wide) {
    out_ << " slots=" << job.slots << "/" << options_.workers << "\n";
  } else if (end == Fate::End::skipped) {
    out_ << "\n";
  } else {
    out_ << " waiting=" << options_.capacity << "\n";
  }
}

void Tracer::write_decision(const Decision& decision) {
  const Job& job = workload_.jobs[decision.job];
  bide::Rank chosen = rank(decision.job, decision.at);
  out_ << "at=" << exact_time(decision.at) << " job=" << word(job.name)
       << " start=" << exact_time(history_.fates[decision.job].started) << rank_text(chosen)
       << " slots=" << job.slots << "/" << decision.free_slots;
  if (decision.runner_up) {
    bide::Rank next = rank(*decision.runner_up, decision.at);
    out_ << " next=" << word(workload_.jobs[*decision.runner_up].name) << rank_text(next)
         << " rule=" << to_string(compare(options_.policy, chosen, next).rule) << "\n";
  } else {
    out_ << " next=- rule=" << to_string(Rule::alone) << "\n";
  }
}

}  // namespace

std::string score_text(bide::urgency::Score score) {
  std::string thousandths = std::to_string(score % 1000);
  thousandths.insert(0, 3 - thousandths.size(), '0');
  return std::to_string(score / 1000) + "." + thousandths;
}

void write_trace(std::ostream& out, const Workload& workload, const History& history,
                 const ReplayOptions& options) {
  Tracer(out, workload, history, options).write();
}

}  // namespace bide_jobs
