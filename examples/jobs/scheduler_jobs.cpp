#include "scheduler_jobs.hpp"

#include "input_error.hpp"
#include "quoted.hpp"

#include <bide/executor/executor.hpp>
#include <bide/executor/jobs/job_refused.hpp>

#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace bide_jobs {
namespace {

bide::Dependency::On on_of(After::On on) {
  if (on == After::On::completion) return bide::Dependency::On::completion;
  return on == After::On::failure ? bide::Dependency::On::failure : bide::Dependency::On::success;
}

}  // namespace

bool recurs(const Job& job) { return job.every.has_value() || !job.cron.empty(); }

void require_commands(const Workload& workload) {
  for (const Job& job : workload.jobs) {
    if (!job.command.empty()) continue;
    throw InputError(workload.source, "line " + std::to_string(job.line) + ": " + word(job.name) +
                                          " has no command; expected one in the column command");
  }
}

std::map<std::string, std::uint32_t> tenants_of(const Workload& workload) {
  std::map<std::string, std::uint32_t> weights;
  for (const Job& job : workload.jobs) {
    if (!job.tenant.empty()) weights.emplace(job.tenant, 1);
  }
  return weights;
}

SchedulerJobs::SchedulerJobs(const Workload& workload, bide::Instant origin, std::size_t workers)
    : jobs_(workload.jobs), origin_(origin), workers_(workers) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (static_cast<std::uint64_t>(jobs_[i].slots) > workers) {
      throw InputError(workload.source,
                       "line " + std::to_string(jobs_[i].line) + ": " + word(jobs_[i].name) + " takes " +
                           std::to_string(jobs_[i].slots) +
                           " slots; expected as many as there are workers (--workers) at most, " +
                           std::to_string(workers));
    }
    wide_ = wide_ || jobs_[i].slots > 1;
    ++name_counts_[jobs_[i].name];
    at_line_.emplace(jobs_[i].line, i);
  }
}

void SchedulerJobs::add_resources(bide::JobScheduler& scheduler) const {
  if (wide_) scheduler.add_semaphore("slots", workers_);
}

std::string SchedulerJobs::key(std::size_t index) const {
  const Job& job = jobs_[index];
  if (name_counts_.at(job.name) == 1) return job.name;
  return job.name + "#" + std::to_string(job.line);
}

std::string SchedulerJobs::kind(std::size_t index) const {
  return jobs_[index].kind.empty() ? jobs_[index].name : jobs_[index].kind;
}

bide::Job SchedulerJobs::without_times(std::size_t index) const {
  const Job& from = jobs_[index];
  bide::Job job;
  job.kind = kind(index);
  job.payload = from.command;
  job.priority = from.priority;
  job.duration_hint = from.hint;
  job.timeout = from.timeout;
  job.retry.max_attempts = from.retries + 1;
  job.tenant = from.tenant;
  if (wide_) job.resources.emplace_back("slots", static_cast<std::uint64_t>(from.slots));
  job.labels["name"] = from.name;
  job.labels["line"] = std::to_string(from.line);
  return job;
}

bide::Job SchedulerJobs::job(std::size_t index) const {
  const Job& from = jobs_[index];
  bide::Job job = without_times(index);
  job.key = key(index);
  if (from.deadline) job.deadline = at(*from.deadline);
  if (from.start) {
    bide::FixedStart start;
    start.at = at(*from.start);
    job.start = start;
  }
  for (const After& after : from.after) job.after.emplace_back(key(at_line_.at(after.line)), on_of(after.on));
  return job;
}

bide::Recurring SchedulerJobs::recurring(std::size_t index) const {
  const Job& from = jobs_[index];
  bide::Recurring recurring(key(index), without_times(index));
  recurring.interval = from.every;
  recurring.cron = from.cron;
  if (from.deadline) recurring.deadline_after = bide::subtract_saturating(*from.deadline, from.submit);
  return recurring;
}

namespace {
std::set<std::string> names_that_recur(const bide::JobScheduler& scheduler) {
  std::set<std::string> names;
  for (bide::RecurringState& state : scheduler.recurring()) names.insert(std::move(state.recurring.name));
  return names;
}

/// But for a name that is taken: by an earlier run, which `before` has, or by others since.
void make_recur(bide::JobScheduler& scheduler, bide::Recurring recurring,
                const std::set<std::string>& before) {
  const std::string name = recurring.name;
  if (before.count(name) != 0) return;
  try {
    scheduler.every(std::move(recurring));
  } catch (const std::invalid_argument&) {
    if (names_that_recur(scheduler).count(name) == 0) throw;
  }
}

using Offer = bide::Task<std::optional<bide::JobHandle>>;

/// Returns: nothing where there is no room.
Offer offer_job(bide::JobScheduler& scheduler, bide::Job job) {
  std::optional<bide::JobHandle> handle;
  try {
    handle = co_await scheduler.submit(std::move(job));
  } catch (const bide::JobRefused& refused) {
    if (refused.reason() != bide::JobRefused::Reason::full) throw;
  }
  co_return handle;
}
}  // namespace

bide::Task<> submit_all(const SchedulerJobs& jobs, const Workload& workload, bide::JobScheduler& scheduler,
                        std::function<void(std::size_t, bide::JobHandle)> submitted) {
  const std::set<std::string> recurring_before = names_that_recur(scheduler);  // a copy of all: once
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    if (jobs.submit_at(i) > bide::now()) co_await bide::SleepUntil(jobs.submit_at(i));
    if (recurs(workload.jobs[i])) {
      make_recur(scheduler, jobs.recurring(i), recurring_before);
      continue;
    }
    std::optional<bide::JobHandle> handle;
    while (!handle) {
      Offer offer = offer_job(scheduler, jobs.job(i));
      handle = co_await std::move(offer);
      if (!handle) co_await bide::Sleep(std::chrono::milliseconds(20));
    }
    submitted(i, std::move(*handle));
  }
}

}  // namespace bide_jobs
