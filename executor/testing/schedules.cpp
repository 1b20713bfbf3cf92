#include <bide/executor/testing/schedules.hpp>

#include <cstdio>
#include <exception>
#include <ostream>
#include <stdexcept>

namespace bide::testing {

namespace {

// Without progress for so long, a schedule counts as failed instead of running for ever.
constexpr std::uint64_t livelock_after = 100'000;
constexpr std::size_t failures_kept = 10;

struct Taken {
  std::size_t chosen;
  std::size_t count;
};

// Follows a list of choices, then its own rule, and notes what it chose.
class NotedChoices : public Chooser {
 public:
  explicit NotedChoices(std::vector<std::size_t> first = {}) : first_(std::move(first)) {}

  std::size_t choose(Choice, std::size_t count, std::uint64_t) override {
    const std::size_t at = taken_.size();
    const std::size_t chosen = at < first_.size() ? first_[at] : next(count);
    if (chosen >= count) throw std::invalid_argument("this schedule belongs to another scenario");
    taken_.push_back({chosen, count});
    return chosen;
  }

  const std::vector<Taken>& taken() const { return taken_; }

  // Choices of 0 at the end are what happens anyway.
  std::string replay() const {
    std::size_t length = taken_.size();
    while (length > 0 && taken_[length - 1].chosen == 0) --length;
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += (i == 0 ? "" : ",") + std::to_string(taken_[i].chosen);
    return text;
  }

 private:
  virtual std::size_t next(std::size_t /*count*/) { return 0; }

  std::vector<std::size_t> first_;
  std::vector<Taken> taken_;
};

// splitmix64, seeded by the schedule's number too: one more draw in one leaves the others as they were.
class RandomChoices final : public NotedChoices {
 public:
  RandomChoices(std::uint64_t seed, std::uint64_t schedule)
      : state_(seed ^ (schedule * 0xd1342543de82ef95U)) {}

 private:
  std::size_t next(std::size_t count) override {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<std::size_t>((z ^ (z >> 31U)) % count);
  }

  std::uint64_t state_;
};

void run(const ScheduleScenario& scenario, NotedChoices& choices) {
  Executor executor({.time = TimeMode::virtual_time, .livelock_after = livelock_after, .chooser = &choices});
  scenario(executor);
}

void run_and_report(const ScheduleScenario& scenario, NotedChoices& choices, ScheduleReport& report) {
  ++report.schedules;
  std::string what;
  try {
    return run(scenario, choices);
  } catch (const std::exception& error) {
    what = error.what();
  } catch (const Cancelled&) {
    what = "Cancelled left the scenario";
  } catch (...) {
    what = "it threw something that is no std::exception";
  }
  if (report.failures.size() < failures_kept) report.failures.push_back({choices.replay(), what});
}

// The choices of the next schedule, depth first: the last one that can go further does, and what follows starts
// anew. Empty: there is none.
std::vector<std::size_t> next_choices(const std::vector<Taken>& taken) {
  std::size_t length = taken.size();
  while (length > 0 && taken[length - 1].chosen + 1 == taken[length - 1].count) --length;
  std::vector<std::size_t> choices;
  for (std::size_t i = 0; i < length; ++i) choices.push_back(taken[i].chosen);
  if (!choices.empty()) ++choices.back();
  return choices;
}

std::string count_of(const ScheduleReport& report) {
  std::string text =
      std::to_string(report.schedules) + (report.schedules == 1 ? " schedule, " : " schedules, ");
  text += report.complete ? "all there are; " : "of more; ";
  if (report) return text + "none failed";
  text += std::to_string(report.failures.size());
  return text + (report.failures.size() < failures_kept ? " failed" : " or more failed");
}

}  // namespace

ScheduleReport for_each_schedule(const ScheduleScenario& scenario, ScheduleOptions options) {
  ScheduleReport report;
  std::vector<std::size_t> choices;
  while (report.schedules < options.most) {
    NotedChoices chooser(choices);
    run_and_report(scenario, chooser, report);
    choices = next_choices(chooser.taken());
    if (choices.empty()) {
      report.complete = true;
      break;
    }
  }
  if (options.print == ScheduleOptions::Print::yes)
    std::printf("for_each_schedule: %s\n", count_of(report).c_str());
  return report;
}

ScheduleReport for_random_schedules(std::uint64_t count, std::uint64_t seed,
                                    const ScheduleScenario& scenario) {
  ScheduleReport report;
  while (report.schedules < count) {
    RandomChoices chooser(seed, report.schedules);
    run_and_report(scenario, chooser, report);
  }
  return report;
}

void replay_schedule(const std::string& replay, const ScheduleScenario& scenario) {
  std::vector<std::size_t> choices;
  for (std::size_t at = 0; at < replay.size();) {
    std::size_t digits = 0;
    std::size_t choice = 0;
    for (; at + digits < replay.size() && replay[at + digits] >= '0' && replay[at + digits] <= '9';
         ++digits) {
      choice = choice * 10 + static_cast<std::size_t>(replay[at + digits] - '0');
    }
    at += digits;
    const bool good =
        digits > 0 && digits < 10 && (at == replay.size() || (replay[at] == ',' && at + 1 < replay.size()));
    if (!good) {
      throw std::invalid_argument("a schedule is numbers with commas between them, not \"" + replay + "\"");
    }
    choices.push_back(choice);
    ++at;
  }
  NotedChoices chooser(std::move(choices));
  run(scenario, chooser);
}

std::string ScheduleReport::text() const {
  std::string text = count_of(*this);
  for (const ScheduleFailure& failure : failures) {
    text += "\n  replay_schedule(\"" + failure.replay + "\", scenario): " + failure.what;
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const ScheduleReport& report) { return out << report.text(); }

}  // namespace bide::testing
