#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/jobs/job_scheduler.hpp>

namespace bide {

/// A job of a test: it sleeps for `duration`, and tells when it began and ended.
struct Planned {
  std::string name;
  Priority priority = Priority::normal;
  Duration duration{};
  std::optional<Duration> deadline{};
  std::optional<Duration> hint{};
  Duration submit_at{};
};

/// What ran, as "A[0-4]" in whole seconds and in the order of the starts.
using Timeline = std::vector<std::string>;

inline std::string seconds(Instant at) {
  return std::to_string(at.time_since_epoch() / std::chrono::seconds(1));
}

inline Task<JobOutcome> sleep_job(JobContext&, std::string name, Duration duration, Timeline* timeline) {
  const std::size_t place = timeline->size();
  timeline->push_back(name + "[" + seconds(now()) + "-");
  co_await Sleep(duration);
  (*timeline)[place] += seconds(now()) + "]";
  co_return JobOutcome::success(name);
}

inline Job job_of(const Planned& plan, Timeline& timeline) {
  Job job(sleep_job, plan.name, plan.duration, &timeline);
  job.kind = plan.name;  // of a kind of its own the hint is believed
  job.priority = plan.priority;
  if (plan.deadline) job.deadline = Instant(*plan.deadline);
  job.duration_hint = plan.hint ? plan.hint : plan.duration;
  return job;
}

inline Task<> submit_all(JobScheduler& scheduler, std::vector<Planned> plans, Timeline& timeline) {
  std::vector<JobHandle> handles;
  for (const Planned& plan : plans) {
    if (plan.submit_at > now().time_since_epoch()) co_await SleepUntil(Instant(plan.submit_at));
    Job job = job_of(plan, timeline);
    handles.push_back(co_await scheduler.submit(std::move(job)));
  }
  for (const JobHandle& handle : handles) co_await handle;
}

/// What came of plans: who ran when, and why.
struct Schedule {
  Timeline timeline;
  std::vector<Decision> decisions;
};

/// Runs the plans, in order of their submits, in virtual time.
inline Schedule schedule_of(std::vector<Planned> plans, std::size_t workers = 1) {
  Schedule schedule;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  scheduler.add_pool("default", {.workers = workers});
  executor.submit(submit_all(scheduler, std::move(plans), schedule.timeline));
  executor.run();
  schedule.decisions = scheduler.decisions();
  return schedule;
}

inline Timeline timeline_of(std::vector<Planned> plans, std::size_t workers = 1) {
  return schedule_of(std::move(plans), workers).timeline;
}

}  // namespace bide
