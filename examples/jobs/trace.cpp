#include "trace.hpp"

#include "quoted.hpp"
#include "time_text.hpp"

#include <bide/queue/urgency.hpp>

#include <ostream>
#include <string>

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
      : out_(out), workload_(workload), history_(history), options_(options) {}

  void write() {
    for (std::size_t decision = 0; decision < history_.decisions.size(); ++decision) {
      write_refusals_until(decision);
      write_decision(history_.decisions[decision]);
    }
    write_refusals_until(history_.decisions.size());
  }

 private:
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
  std::size_t arrived_count_ = 0;  // jobs that came before what is written next
};

/// Jobs arrive in the workload's order, so one pass beside the decisions finds each refusal's place.
void Tracer::write_refusals_until(std::size_t decision) {
  for (; arrived_count_ < workload_.jobs.size(); ++arrived_count_) {
    const Fate& fate = history_.fates[arrived_count_];
    if (fate.entered_before > decision) return;
    if (fate.end != Fate::End::done) write_refusal(workload_.jobs[arrived_count_], fate.end);
  }
}

void Tracer::write_refusal(const Job& job, Fate::End end) {
  out_ << "at=" << exact_time(job.submit) << " job=" << word(job.name) << " refused=" << to_string(end)
       << " line=" << job.line << " class=" << to_string(job.priority);
  if (end == Fate::End::too_wide) {
    out_ << " slots=" << job.slots << "/" << options_.workers << "\n";
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
