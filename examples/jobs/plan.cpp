#include "plan.hpp"

#include "input_error.hpp"
#include "quoted.hpp"
#include "scheduler_jobs.hpp"
#include "table.hpp"
#include "time_text.hpp"

#include <bide/executor/executor.hpp>
#include <bide/executor/jobs/job_scheduler.hpp>
#include <bide/executor/jobs/recurrence.hpp>

#include <algorithm>
#include <charconv>
#include <ostream>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace bide_jobs {
namespace {

using bide::JobOutcome;
using bide::JobStatus;
using bide::JobSummary;

bide::Task<JobOutcome> sleep_through(bide::JobContext&, Nanoseconds duration) {
  co_await bide::Sleep(duration);
  co_return JobOutcome::success();
}

std::size_t line_of(const JobSummary& summary) {
  const std::string& text = summary.labels.at("line");
  std::size_t line = 0;
  std::from_chars(text.data(), text.data() + text.size(), line);
  return line;
}

/// The plan of one file, while it is made.
class Planner {
 public:
  Planner(const Workload& workload, const PlanOptions& options) : workload_(workload), options_(options) {}

  Plan make();

 private:
  bide::Task<> run();
  void add(const JobSummary& summary);
  void put_in_order();

  void bound_count() const;

  const Workload& workload_;
  const PlanOptions& options_;
  bide::JobScheduler* scheduler_ = nullptr;
  std::unordered_map<std::size_t, std::size_t> at_line_;  // only looked up
  Plan plan_;
};

/// Durations belong to lines and handlers to kinds: so each line is a kind of its own here.
bide::Task<> Planner::run() {
  const SchedulerJobs jobs(workload_, bide::Instant(), options_.workers);
  jobs.add_resources(*scheduler_);
  for (std::size_t i = 0; i < workload_.jobs.size(); ++i) {
    if (workload_.jobs[i].submit > bide::now().time_since_epoch())
      co_await bide::SleepUntil(jobs.submit_at(i));
    if (recurs(workload_.jobs[i])) {
      bide::Recurring recurring = jobs.recurring(i);
      recurring.job.work = bide::JobWork(sleep_through, workload_.jobs[i].duration);
      scheduler_->every(std::move(recurring));
    } else {
      bide::Job job = jobs.job(i);
      job.work = bide::JobWork(sleep_through, workload_.jobs[i].duration);
      co_await scheduler_->submit(std::move(job));
    }
  }
  if (options_.until > bide::now().time_since_epoch())
    co_await bide::SleepUntil(bide::Instant(options_.until));
  for (std::size_t i = 0; i < workload_.jobs.size(); ++i) {
    if (recurs(workload_.jobs[i])) scheduler_->stop_recurring(jobs.key(i));
  }
  std::vector<bide::JobHandle> live;
  bide::JobFilter all;
  all.limit = std::numeric_limits<std::size_t>::max();
  for (const JobSummary& summary : scheduler_->list(all)) {
    if (std::optional<bide::JobHandle> handle = scheduler_->find(summary.id))
      live.push_back(std::move(*handle));
  }
  for (const bide::JobHandle& handle : live) co_await handle;
  for (const JobSummary& summary : scheduler_->list(all)) add(summary);
  co_await scheduler_->shut_down();
}

/// What recurs in nanoseconds would fill all memory before anything is told.
void Planner::bound_count() const {
  constexpr std::size_t most = 1'000'000;
  using Time = bide::Recurrence::Time;
  const Nanoseconds epoch(options_.epoch);
  std::size_t count = workload_.jobs.size();
  for (const Job& job : workload_.jobs) {
    if (!recurs(job)) continue;
    const Time since(bide::add_saturating(bide::Instant(epoch), job.submit).time_since_epoch());
    const Time until(bide::add_saturating(bide::Instant(epoch), options_.until).time_since_epoch());
    const bide::Recurrence recurrence =
        job.every ? bide::Recurrence::every(*job.every, since) : bide::Recurrence::by(bide::Cron(job.cron));
    count += recurrence.count(since, until, most);
    if (count <= most) continue;
    throw InputError(workload_.source, "line " + std::to_string(job.line) + ": " + word(job.name) +
                                           " comes too often; expected at most " + std::to_string(most) +
                                           " jobs until " + exact_time(options_.until) + " (--until)");
  }
}

void Planner::add(const JobSummary& summary) {
  Job job = workload_.jobs[at_line_.at(line_of(summary))];
  if (recurs(job)) job.name = summary.key;
  job.submit = summary.submitted.time_since_epoch();
  job.deadline.reset();
  if (summary.deadline) job.deadline = summary.deadline->time_since_epoch();
  Fate fate;
  fate.end = summary.started ? Fate::End::done : Fate::End::skipped;
  const bide::Instant ended = summary.ended.value_or(summary.submitted);
  fate.ended = ended.time_since_epoch();
  fate.started = summary.started.value_or(ended).time_since_epoch();
  if (summary.started) {
    job.duration = fate.ended - fate.started;
    plan_.history.makespan = std::max(plan_.history.makespan, fate.ended);
  }
  plan_.workload.jobs.push_back(std::move(job));
  plan_.history.fates.push_back(fate);
  plan_.statuses.push_back(summary.status);
}

/// Decisions by start; the scheduler's own log is bounded.
void Planner::put_in_order() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < plan_.workload.jobs.size(); ++i) {
    if (plan_.history.fates[i].end == Fate::End::done) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    const Nanoseconds first = plan_.history.fates[a].started;
    const Nanoseconds second = plan_.history.fates[b].started;
    return first != second ? first < second : a < b;
  });
  for (std::uint32_t job : order) {
    Decision decision;
    decision.at = plan_.history.fates[job].started;
    decision.job = job;
    plan_.history.fates[job].decision = plan_.history.decisions.size();
    plan_.history.decisions.push_back(decision);
  }
}

Plan Planner::make() {
  bound_count();
  for (std::size_t i = 0; i < workload_.jobs.size(); ++i) at_line_.emplace(workload_.jobs[i].line, i);
  plan_.workload.source = workload_.source;
  bide::JobSchedulerOptions scheduler_options;
  scheduler_options.epoch = options_.epoch;
  scheduler_options.decisions = 0;
  scheduler_options.retained = std::numeric_limits<std::size_t>::max();
  bide::JobScheduler scheduler(scheduler_options);
  bide::PoolOptions pool;
  pool.workers = options_.workers;
  pool.unknown_parent = bide::UnknownParent::wait;
  pool.tenant_weights = tenants_of(workload_);
  scheduler.add_pool("default", std::move(pool));
  scheduler_ = &scheduler;
  bide::Executor executor({.time = bide::TimeMode::virtual_time});
  executor.submit(run(), {.name = "plan"});
  try {
    executor.run();
  } catch (const std::invalid_argument& error) {
    throw InputError(workload_.source, error.what());
  }
  put_in_order();
  return std::move(plan_);
}

std::string late_text(const Job& job, const Fate& fate) {
  if (!job.deadline) return "";
  if (!missed_deadline(job, fate)) return "in time";
  return "LATE by " + readable_time(fate.ended - *job.deadline);
}

}  // namespace

std::map<std::string, Nanoseconds> learned_durations(const bide::StoredState& state) {
  std::map<std::string, std::vector<Nanoseconds>> durations;
  for (const bide::StoredState::Entry& entry : state.jobs) {
    if (entry.status != JobStatus::succeeded || !entry.started || !entry.ended) continue;
    durations[entry.job.kind].emplace_back(std::max<bide::WallTime>(*entry.ended - *entry.started, 0));
  }
  std::map<std::string, Nanoseconds> medians;
  for (auto& [kind, of_kind] : durations) {
    const auto middle = of_kind.begin() + static_cast<std::ptrdiff_t>((of_kind.size() - 1) / 2);
    std::nth_element(of_kind.begin(), middle, of_kind.end());
    medians.emplace(kind, *middle);
  }
  return medians;
}

void take_durations(Workload& workload, const std::map<std::string, Nanoseconds>& learned) {
  constexpr Nanoseconds unknown = std::chrono::seconds(1);
  for (Job& job : workload.jobs) {
    const auto found = learned.find(job.kind.empty() ? job.name : job.kind);
    if (found != learned.end()) {
      job.duration = found->second;
      job.hint = found->second;
    } else if (job.duration == Nanoseconds::zero()) {
      job.duration = job.hint.value_or(unknown);
    }
  }
}

Plan make_plan(const Workload& workload, const PlanOptions& options) {
  return Planner(workload, options).make();
}

void write_plan(std::ostream& out, const Plan& plan, const PlanOptions& options) {
  const Statistics statistics =
      summarize(plan.workload, plan.history, static_cast<std::int64_t>(options.workers));
  Table table;
  table.add_row({"job", "class", "submit", "start", "end", "wait", "deadline", ""});
  for (const Decision& decision : plan.history.decisions) {
    const Job& job = plan.workload.jobs[decision.job];
    const Fate& fate = plan.history.fates[decision.job];
    const JobStatus status = plan.statuses[decision.job];
    std::string note = late_text(job, fate);
    if (status != JobStatus::succeeded)
      note += (note.empty() ? std::string() : std::string(", ")) + bide::to_string(status);
    table.add_row({word(job.name), to_string(job.priority), exact_time(job.submit), exact_time(fate.started),
                   exact_time(fate.ended), exact_time(fate.started - job.submit),
                   job.deadline ? exact_time(*job.deadline) : "-", note});
  }
  out << word(plan.workload.source) << ": " << plan.workload.jobs.size() << " jobs on " << options.workers
      << (options.workers == 1 ? " worker\n\n" : " workers\n\n");
  table.write(out);
  for (std::size_t i = 0; i < plan.workload.jobs.size(); ++i) {
    if (plan.history.fates[i].end == Fate::End::done) continue;
    out << word(plan.workload.jobs[i].name) << " (line " << plan.workload.jobs[i].line
        << ") does not run: " << bide::to_string(plan.statuses[i]) << "\n";
  }
  out << "\n"
      << statistics.all.missed_count << " of " << statistics.all.deadline_count
      << " deadlines missed, the end at " << readable_time(plan.history.makespan) << "\n";
}

}  // namespace bide_jobs
