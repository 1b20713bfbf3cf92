#include "explain.hpp"

#include "input_error.hpp"
#include "quoted.hpp"
#include "time_text.hpp"
#include "trace.hpp"

#include <bide/queue/urgency.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace bide_jobs {
namespace {

std::string count_text(std::uint64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// Tells about the jobs of one finished replay.
class Teller {
 public:
  Teller(const Workload& workload, const History& history, const ReplayOptions& options)
      : workload_(workload), history_(history), options_(options) {}

  std::string tell(std::uint32_t first, std::uint32_t second) const;

 private:
  const Job& job(std::uint32_t index) const { return workload_.jobs[index]; }
  const Fate& fate(std::uint32_t index) const { return history_.fates[index]; }
  std::string name(std::uint32_t index) const;
  bool refused(std::uint32_t index) const { return fate(index).end != Fate::End::done; }
  bool waited_at(std::size_t decision, std::uint32_t index) const;
  bide::Rank rank(std::uint32_t index, Nanoseconds now) const;

  std::string reason(std::uint32_t first, std::uint32_t second) const;
  std::string came_later(std::uint32_t first, std::uint32_t second) const;
  std::string stood_behind(std::uint32_t first, std::uint32_t second) const;
  std::string won(std::uint32_t first, std::uint32_t second, Nanoseconds at, std::string_view winner) const;
  std::string told_apart(Rule rule, std::uint32_t first, std::uint32_t second, Nanoseconds at,
                         const std::string& whose) const;
  std::string score_parts(std::uint32_t index, Nanoseconds now) const;

  const Workload& workload_;
  const History& history_;
  const ReplayOptions& options_;
};

/// With the line where the name alone does not tell which job is meant.
std::string Teller::name(std::uint32_t index) const {
  auto called = std::count_if(workload_.jobs.begin(), workload_.jobs.end(),
                              [&](const Job& other) { return other.name == job(index).name; });
  std::string text = word(job(index).name);
  return called == 1 ? text : text + " of line " + std::to_string(job(index).line);
}

bide::Rank Teller::rank(std::uint32_t index, Nanoseconds now) const {
  return rank_of(job(index), fate(index).sequence, now);
}

bool Teller::waited_at(std::size_t decision, std::uint32_t index) const {
  return !refused(index) && fate(index).entered_before <= decision && fate(index).decision > decision;
}

std::string Teller::tell(std::uint32_t first, std::uint32_t second) const {
  if (refused(first)) {
    return name(first) + " never started: it " + refusal_text(job(first), fate(first), options_) + ".";
  }
  std::string started = " started at " + exact_time(fate(first).started);
  if (refused(second)) {
    return name(first) + started + "; " + name(second) + " never started: it " +
           refusal_text(job(second), fate(second), options_) + ".";
  }
  if (fate(first).decision > fate(second).decision) {
    return name(first) + " did not start before " + name(second) + ": " + tell(second, first);
  }
  return name(first) + started + ", before " + name(second) + " (at " + exact_time(fate(second).started) +
         "), because " + reason(first, second) + ".";
}

std::string Teller::reason(std::uint32_t first, std::uint32_t second) const {
  if (!waited_at(fate(first).decision, second)) return came_later(first, second);
  Nanoseconds at = history_.decisions[fate(first).decision].at;
  bool wins = compare(options_.policy, rank(first, at), rank(second, at)).left_first;
  return wins ? won(first, second, at, "its") : stood_behind(first, second);
}

std::string Teller::came_later(std::uint32_t first, std::uint32_t second) const {
  if (job(second).submit > fate(first).started) {
    return name(second) + " was submitted only at " + exact_time(job(second).submit);
  }
  return "it had been chosen at " + exact_time(history_.decisions[fate(first).decision].at) +
         " and waited at the head for its " +
         count_text(static_cast<std::uint64_t>(job(first).slots), "slot") +
         ", where nothing overtakes it, when " + name(second) + " was submitted at " +
         exact_time(job(second).submit);
}

/// For a job that would have won on its own but was not the head of its lane.
std::string Teller::stood_behind(std::uint32_t first, std::uint32_t second) const {
  std::size_t decision = fate(first).decision;
  Nanoseconds at = history_.decisions[decision].at;
  std::uint32_t head = second;
  for (std::uint32_t other = 0; other < workload_.jobs.size(); ++other) {
    if (!waited_at(decision, other) || !share_a_lane(rank(other, at), rank(second, at))) continue;
    if (compare(options_.policy, rank(other, at), rank(head, at)).left_first) head = other;
  }
  return name(second) + " stood behind " + name(head) +
         ", which has the earlier latest start time in its class, and " +
         won(first, head, at, name(first) + "'s");
}

/// "its score ... was above ...": `winner` is how to say whose.
std::string Teller::won(std::uint32_t first, std::uint32_t second, Nanoseconds at,
                        std::string_view winner) const {
  bide::Rank left = rank(first, at);
  bide::Rank right = rank(second, at);
  Rule rule = compare(options_.policy, left, right).rule;
  std::string whose(winner);
  if (rule == Rule::score) {
    return "at " + exact_time(at) + " " + whose + " score " + score_parts(first, at) + " was above that of " +
           name(second) + ", " + score_parts(second, at);
  }
  std::string told = told_apart(rule, first, second, at, whose);
  bool scores_tie = options_.policy == Policy::urgency && !share_a_lane(left, right);
  return scores_tie ? "at equal scores of " + score_text(left.score) + " " + told : told;
}

/// What decided where no score did.
std::string Teller::told_apart(Rule rule, std::uint32_t first, std::uint32_t second, Nanoseconds at,
                               const std::string& whose) const {
  bide::Rank left = rank(first, at);
  bide::Rank right = rank(second, at);
  if (rule == Rule::priority) {
    return whose + " class " + to_string(left.priority) + " is above the class " + to_string(right.priority) +
           " of " + name(second);
  }
  if (rule == Rule::latest_start && right.latest_start == bide::Urgency::none) {
    return name(second) + " has no deadline";
  }
  if (rule == Rule::latest_start) {
    return whose + " latest start time " + exact_time(left.latest_start) + " is earlier than the " +
           exact_time(right.latest_start) + " of " + name(second);
  }
  std::string place = "it entered the queue earlier (sequence " + std::to_string(left.sequence) + "; " +
                      name(second) + " has " + std::to_string(right.sequence) + ")";
  return options_.policy == Policy::fifo ? place : "nothing else tells them apart and " + place;
}

std::string Teller::score_parts(std::uint32_t index, Nanoseconds now) const {
  bide::urgency::Score whole = rank(index, now).score;
  bide::urgency::Score base = bide::urgency::base(job(index).priority);
  bide::urgency::Score waiting = bide::urgency::aging(now - job(index).submit);
  return score_text(whole) + " (class " + to_string(job(index).priority) + " " + score_text(base) +
         ", waiting " + score_text(waiting) + ", deadline " + score_text(whole - base - waiting) + ")";
}

std::optional<std::size_t> line_number(std::string_view name) {
  if (name.size() < 2 || name.front() != '@') return std::nullopt;
  std::size_t line = 0;
  auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), line);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return line;
}

}  // namespace

std::string refusal_text(const Job& job, const Fate& fate, const ReplayOptions& options) {
  if (fate.end == Fate::End::too_wide) {
    return "needs " + count_text(static_cast<std::uint64_t>(job.slots), "slot") + ", there " +
           (options.workers == 1 ? "is " : "are ") + std::to_string(options.workers);
  }
  if (fate.end == Fate::End::skipped)
    return "was skipped: a job that it is after ended otherwise than it needs";
  return "arrived at " + exact_time(job.submit) + " when the queue was full (" +
         std::to_string(options.capacity) + " waiting)";
}

std::uint32_t find_job(const Workload& workload, std::string_view name) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t index = 0; index < workload.jobs.size(); ++index) {
    if (workload.jobs[index].name != name) continue;
    if (found) {
      throw InputError("--explain", "the jobs of lines " + std::to_string(workload.jobs[*found].line) +
                                        " and " + std::to_string(workload.jobs[index].line) +
                                        " are both called " + quoted(name) +
                                        "; expected a name of one job, or a line such as @" +
                                        std::to_string(workload.jobs[*found].line));
    }
    found = index;
  }
  if (found) return *found;
  if (std::optional<std::size_t> line = line_number(name)) {
    for (std::uint32_t index = 0; index < workload.jobs.size(); ++index) {
      if (workload.jobs[index].line == *line) return index;
    }
    throw InputError("--explain", "no job on line " + std::to_string(*line) + " of " + workload.source);
  }
  throw InputError("--explain",
                   "expected the name of a job in " + workload.source + ", found " + quoted(name));
}

std::string explain(const Workload& workload, const History& history, const ReplayOptions& options,
                    std::uint32_t first, std::uint32_t second) {
  return Teller(workload, history, options).tell(first, second);
}

}  // namespace bide_jobs
