// What a scheduler makes of its parts: workers that follow the load, statistics, and a store that fails.

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/sync/event.hpp>

#include "schedule.hpp"

using namespace bide;
using namespace std::chrono_literals;

namespace {

struct Seen {
  Duration took{};
  std::size_t most_workers = 0;
  std::size_t workers_later = 0;
  std::string metrics_later;
  ClassStatistics total;
  std::string metrics;
};

Task<JobOutcome> sleeps(JobContext&, Duration duration) {
  co_await Sleep(duration);
  co_return JobOutcome::success();
}

PoolOptions scaled() {
  PoolOptions options;
  options.autoscale = AutoscalerOptions{.min_workers = 1,
                                        .max_workers = 4,
                                        .interval = 1s,
                                        .drain_time = 10s,
                                        .stabilisation_window = 5s,
                                        .cooldown = 1s,
                                        .max_step_up_ratio = 0,
                                        .max_step_up = 1,
                                        .cost_per_worker_second = 1'000'000};
  return options;
}

Task<> forty_jobs(JobScheduler& scheduler, Seen* seen) {
  std::vector<JobHandle> handles;
  for (int n = 0; n < 40; ++n) {
    Job job(sleeps, Duration(4s));
    job.deadline = Instant(30s);
    handles.push_back(co_await scheduler.submit(std::move(job)));
  }
  for (const JobHandle& handle : handles) {
    co_await handle;
    seen->most_workers = std::max(seen->most_workers, scheduler.pools()[0].workers);
  }
  seen->took = now().time_since_epoch();
  seen->total = scheduler.statistics("default", Priority::normal);
  seen->metrics = scheduler.metrics();
  co_await Sleep(1min);
  seen->workers_later = scheduler.pools()[0].workers;
  seen->metrics_later = scheduler.metrics();
}

Task<JobOutcome> hangs(JobContext&) {
  Event never("a day that does not come");
  co_await never.wait();
  co_return JobOutcome::success();
}

Task<> one_that_hangs(JobScheduler& scheduler) {
  JobHandle handle = co_await scheduler.submit(Job(hangs));
  co_await handle;
}

/// Keeps nothing, and fails from a write on.
class FailingStore final : public JobStore {
 public:
  explicit FailingStore(int writes) : left_(writes) {}
  StoredState load() override { return {}; }
  void write(std::span<const JobRecord>) override {
    if (left_-- <= 0) throw std::runtime_error("the disk is full");
  }

 private:
  int left_;
};

struct Failure {
  std::string submit = "none";
  std::string end = "none";
};

Task<> submit_one(JobScheduler& scheduler, Failure* failure) {
  Job job;
  job.kind = "sleep";
  std::optional<JobHandle> handle;
  try {
    handle = co_await scheduler.submit(std::move(job));
  } catch (const std::runtime_error& error) {
    failure->submit = error.what();
  }
  if (!handle) co_return;
  try {
    const JobResult result = co_await *handle;
    failure->end = to_string(result.status);
  } catch (const std::runtime_error& error) {
    failure->end = error.what();
  }
}

Task<> end_after_the_failure(JobScheduler& scheduler, Failure* failure) {
  Job job;
  job.kind = "sleep";
  JobHandle handle = co_await scheduler.submit(std::move(job));
  co_await Sleep(500ms);
  Failure other;
  co_await submit_one(scheduler, &other);
  failure->submit = other.submit;
  try {
    const JobResult result = co_await handle;
    failure->end = to_string(result.status);
  } catch (const std::runtime_error& error) {
    failure->end = error.what();
  }
}

Failure with_writes(int writes, Task<> (*body)(JobScheduler&, Failure*) = submit_one) {
  FailingStore store(writes);
  Failure failure;
  Executor executor({.time = TimeMode::virtual_time});
  JobSchedulerOptions options;
  options.store = &store;
  JobScheduler scheduler(options);
  scheduler.handle("sleep", JobWork(sleeps, Duration(1s)));
  executor.submit(body(scheduler, &failure));
  executor.run();
  return failure;
}

}  // namespace

TEST_CASE("JobScheduler: the workers of a pool follow its load, and go when it is idle") {
  Seen seen;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  scheduler.add_pool("default", scaled());
  executor.submit(forty_jobs(scheduler, &seen));
  executor.run();
  CHECK(seen.most_workers == 4);
  CHECK(seen.took > 40s);
  CHECK(seen.took < 60s);  // one worker needs 160 s
  CHECK(seen.workers_later == 1);
  const std::string cost = "bide_jobs_cost_millionths_total{pool=\"default\"} ";
  const std::size_t place = seen.metrics_later.find(cost);
  REQUIRE(place != std::string::npos);
  const std::uint64_t millionths = std::stoull(seen.metrics_later.substr(place + cost.size()));
  CHECK(millionths >= 160'000'000);  // 40 jobs of 4 s, at one a worker's second
  CHECK(millionths < 240'000'000);
}

TEST_CASE("JobScheduler: workers that follow the load hide no deadlock") {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  scheduler.add_pool("default", scaled());
  executor.submit(one_that_hangs(scheduler));
  CHECK_THROWS_WITH(executor.run(), Catch::Contains("a day that does not come"));
  CHECK(executor.now() < Instant(5min));
}

TEST_CASE("JobScheduler: statistics count attempts, ends and deadlines, and Prometheus gets them") {
  Seen seen;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  scheduler.add_pool("default", {.workers = 4});
  executor.submit(forty_jobs(scheduler, &seen));
  executor.run();
  CHECK(seen.total.submitted == 40);
  CHECK(seen.total.started == 40);
  CHECK(seen.total.ended[static_cast<std::size_t>(JobStatus::succeeded)] == 40);
  CHECK(seen.total.met_deadlines == 28);
  CHECK(seen.total.missed_deadlines == 12);
  CHECK(seen.total.run.mean() == 4s);
  CHECK(seen.total.wait.longest() == 36s);
  CHECK(seen.total.lateness.longest() == 10s);
  for (const char* line : {"bide_jobs_submitted_total{pool=\"default\",class=\"normal\"} 40\n",
                           "bide_jobs_missed_deadlines_total{pool=\"default\",class=\"normal\"} 12\n",
                           "bide_jobs_wait_seconds_count{pool=\"default\",class=\"normal\"} 40\n",
                           "bide_jobs_workers{pool=\"default\"} 4\n"})
    CHECK_THAT(seen.metrics, Catch::Contains(line));
  CHECK_THROWS_AS(scheduler.statistics("none", Priority::low), std::invalid_argument);
}

TEST_CASE("JobScheduler: what the store could not keep is thrown, and reported as nothing else") {
  const Failure at_submit = with_writes(0);
  CHECK(at_submit.submit == "the disk is full");
  // The submit is kept; the start, or the end, is not.
  CHECK(with_writes(1).end == "the disk is full");
  CHECK(with_writes(2).end == "the disk is full");
  CHECK(with_writes(3).end == "succeeded");
  // The start is kept, and the store fails while the attempt is under way.
  const Failure meanwhile = with_writes(2, end_after_the_failure);
  CHECK(meanwhile.submit == "the disk is full");
  CHECK(meanwhile.end == "the disk is full");
}
