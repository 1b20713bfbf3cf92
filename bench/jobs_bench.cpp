// Decisions of the job scheduler: 1,024 workers, 100,000 jobs queued round robin over four classes, then 300,000 times
// one job ends, one is submitted and one is dispatched, each 1,000 ns of virtual time after the one before.
// Run: jobs_bench --benchmark_filter=J_
//
// One item is one decision: an end, a submit and a dispatch. Argument: of how many jobs one has a deadline; 0: none.
// J_job_decisions takes off what the sleeps alone take that let the time pass, measured in the same run: "sleep" of the
// counters, a cycle. In J_job_threads they are a part of what is measured, as the threads are.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include <bide/executor/jobs/job_scheduler.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;

constexpr std::size_t worker_count = 1'024;
constexpr std::size_t queued_count = 100'000;
constexpr std::size_t cycle_count = 300'000;

/// Measures the cycles alone, not the filling of the queue, in CPU time of the one thread that all runs on: what else
/// the machine does meanwhile is none of it.
class Watch {
 public:
  void start() { started_ = now_ns(); }
  void stop() { taken_ = now_ns() - started_; }
  double seconds() const { return static_cast<double>(taken_) / 1e9; }

 private:
  static std::int64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  }

  std::int64_t started_ = 0;
  std::int64_t taken_ = 0;
};

struct Run {
  JobScheduler& scheduler;
  std::size_t deadline_every;
  Watch watch{};
  Watch sleeps{};
  std::size_t submitted = 0;
  std::size_t ended = 0;

  void configure(Job& job) {
    job.priority = static_cast<Priority>(submitted % priority_count);
    if (deadline_every != 0 && submitted % deadline_every == 0) job.deadline_in = 30s;
    ++submitted;
  }
};

PoolOptions pool(std::size_t workers) {
  PoolOptions options;
  options.workers = workers;
  options.bounds.in_all = 2 * queued_count;
  return options;
}

// ---- workers outside: the decision alone, without a thread for each attempt

Task<JobOutcome> nothing(JobContext&) { co_return JobOutcome::success(); }

Task<> submit_one(Run& run) {
  Job job(nothing);
  run.configure(job);
  co_await run.scheduler.submit(std::move(job));
}

Task<> leased_cycles(Run& run) {
  struct Held {
    JobId id;
    std::uint32_t attempt;
  };
  std::vector<Held> held;
  for (std::size_t i = 0; i < worker_count + queued_count; ++i) co_await submit_one(run);
  for (std::size_t i = 0; i < worker_count; ++i) {
    std::optional<Lease> lease = co_await run.scheduler.lease("default", Duration::max());
    held.push_back({lease->id, lease->attempt});
  }
  run.watch.start();
  for (std::size_t i = 0; i < cycle_count; ++i) {
    Held& worker = held[i % worker_count];
    co_await Sleep(1000ns);
    co_await run.scheduler.report(worker.id, worker.attempt, JobOutcome::success());
    Job job(nothing);
    run.configure(job);
    co_await run.scheduler.submit(std::move(job));
    std::optional<Lease> lease = co_await run.scheduler.lease("default", Duration::max());
    worker = {lease->id, lease->attempt};
  }
  run.watch.stop();
  run.sleeps.start();
  for (std::size_t i = 0; i < cycle_count; ++i) co_await Sleep(1000ns);
  run.sleeps.stop();
}

void J_job_decisions(benchmark::State& state) {
  for (auto _ : state) {
    Executor executor({.time = TimeMode::virtual_time});
    JobScheduler scheduler;
    scheduler.add_pool("default", pool(0));
    Run run{scheduler, static_cast<std::size_t>(state.range(0))};
    executor.submit(leased_cycles(run));
    executor.run();
    const double seconds = run.watch.seconds() - run.sleeps.seconds();
    state.SetIterationTime(seconds);
    state.counters["nanoseconds"] = seconds * 1e9 / static_cast<double>(cycle_count);
    state.counters["sleep"] = run.sleeps.seconds() * 1e9 / static_cast<double>(cycle_count);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(cycle_count));
}
BENCHMARK(J_job_decisions)->Arg(0)->Arg(4)->Arg(1)->UseManualTime()->Unit(benchmark::kMillisecond);

// ---- workers here: each attempt is a green thread that sleeps, submits the next job and ends

Task<JobOutcome> replace_itself(JobContext&, Run* run, Duration duration) {
  co_await Sleep(duration);
  if (++run->ended == worker_count) run->watch.start();
  if (run->ended == worker_count + cycle_count) run->watch.stop();
  if (run->ended > worker_count + cycle_count) co_return JobOutcome::success();
  Job job(replace_itself, run, Duration(1000 * worker_count));
  run->configure(job);
  co_await run->scheduler.submit(std::move(job));
  co_return JobOutcome::success();
}

Task<> threaded_cycles(Run& run) {
  for (std::size_t i = 0; i < worker_count + queued_count; ++i) {
    Job job(replace_itself, &run, Duration(1000 * (1 + i % worker_count)));
    run.configure(job);
    co_await run.scheduler.submit(std::move(job));
  }
  while (run.ended < worker_count + cycle_count) co_await Sleep(1ms);
  Task<> end = run.scheduler.shut_down(JobScheduler::Shutdown::cancel);
  co_await std::move(end);
}

void J_job_threads(benchmark::State& state) {
  for (auto _ : state) {
    Executor executor({.time = TimeMode::virtual_time});
    JobScheduler scheduler;
    scheduler.add_pool("default", pool(worker_count));
    Run run{scheduler, static_cast<std::size_t>(state.range(0))};
    executor.submit(threaded_cycles(run));
    executor.run();
    state.SetIterationTime(run.watch.seconds());
    state.counters["nanoseconds"] = run.watch.seconds() * 1e9 / static_cast<double>(cycle_count);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(cycle_count));
}
BENCHMARK(J_job_threads)->Arg(0)->Arg(4)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
