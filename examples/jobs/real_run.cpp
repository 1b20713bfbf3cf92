#include "real_run.hpp"

#include "input_error.hpp"
#include "quoted.hpp"
#include "scheduler_jobs.hpp"
#include "time_text.hpp"
#include "worker.hpp"

#include <bide/executor/executor.hpp>
#include <bide/executor/io/signals.hpp>
#include <bide/executor/jobs/job_handle.hpp>
#include <bide/executor/scope/task_group.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace bide_jobs {

using namespace bide;

namespace {

/// The lines of an output, indented, each with its end.
std::string indented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += "    " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Nanoseconds to_milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::max(duration, Duration::zero()));
}

class RealRun {
 public:
  RealRun(const Workload& workload, const RealRunOptions& options)
      : workload_(workload),
        workers_(options.workers),
        worker_(
            {.workers = options.workers,
             .database = options.database,
             .queue = workload.jobs.size() + 100'000,
             // A job that was forgotten would run again in the next run, and who comes after it would wait for ever.
             .retained = std::numeric_limits<std::size_t>::max(),
             .tenant_weights = tenants_of(workload)}) {}

  Task<> run();
  /// 1 also where a signal came before all jobs had ended; what recurs has no end.
  int exit_code() const { return all_ended_ && unsuccessful_count_ == 0 ? 0 : 1; }

 private:
  Task<> submit_and_wait(TaskGroup& group);
  Task<> end_at_signal(TaskGroup& group);
  Task<> tell_end(std::size_t index, JobHandle handle);

  const Workload& workload_;
  std::size_t workers_;
  Worker worker_;
  Instant origin_{};
  std::size_t unsuccessful_count_ = 0;
  bool all_ended_ = false;
};

Task<> RealRun::tell_end(std::size_t index, JobHandle handle) {
  const bool before = handle.ended();
  const JobResult result = co_await handle;
  const Job& job = workload_.jobs[index];
  // Who was skipped says nothing that the job it was to follow has not said.
  if (!result.succeeded() && result.status != JobStatus::skipped) ++unsuccessful_count_;
  std::cout << exact_time(to_milliseconds(now() - origin_)) << "  " << word(job.name) << " "
            << to_string(result.status);
  if (before) {
    std::cout << ", in an earlier run";
  } else if (result.attempts > 0) {
    std::cout << " after " << exact_time(to_milliseconds(result.ended - result.started));
  }
  if (result.attempts > 1) std::cout << ", attempt " << result.attempts;
  if (job.deadline && !before && result.ended > add_saturating(origin_, *job.deadline))
    std::cout << ", late by "
              << exact_time(to_milliseconds(result.ended - add_saturating(origin_, *job.deadline)));
  std::cout << "\n" << (before ? std::string() : indented(result.outcome.text())) << std::flush;
}

Task<> RealRun::end_at_signal(TaskGroup& group) {
  SignalSet signals({SIGINT, SIGTERM});
  const int signal = co_await signals.next();
  std::cerr << "bide-jobs: signal " << signal << ", what runs is killed" << std::endl;
  co_await worker_.shut_down();
  group.cancel();
}

Task<> RealRun::submit_and_wait(TaskGroup& group) {
  Handle<> signal_waiter = group.submit(end_at_signal(group), {.name = "signals"});
  const SchedulerJobs jobs(workload_, origin_, workers_);
  std::vector<Handle<>> tellers;
  const auto submitted = [this, &group, &tellers](std::size_t index, JobHandle handle) {
    tellers.push_back(group.submit(tell_end(index, std::move(handle)), {.name = "teller"}));
  };
  co_await submit_all(jobs, workload_, worker_.scheduler(), submitted);
  for (Handle<>& teller : tellers) co_await teller;
  all_ended_ = true;
  const bool goes_on = std::any_of(workload_.jobs.begin(), workload_.jobs.end(), recurs);
  if (goes_on) co_await signal_waiter;
  group.cancel();
}

Task<> RealRun::run() {
  origin_ = now();
  const SchedulerJobs jobs(workload_, origin_, workers_);
  jobs.add_resources(worker_.scheduler());
  for (std::size_t i = 0; i < workload_.jobs.size(); ++i) worker_.know(jobs.kind(i));
  Task<> run = worker_.run([this](TaskGroup& group) { return submit_and_wait(group); });
  co_await std::move(run);
}

}  // namespace

int run_for_real(const Workload& workload, const RealRunOptions& options) {
  require_commands(workload);
  Executor executor({.time = TimeMode::real_time});
  RealRun run(workload, options);
  executor.submit(run.run(), {.name = "bide-jobs"});
  try {
    executor.run();
  } catch (const std::invalid_argument& error) {
    throw InputError(workload.source, error.what());
  }
  return run.exit_code();
}

}  // namespace bide_jobs
