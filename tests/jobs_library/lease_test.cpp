#include "memory_store.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/jobs/job_scheduler.hpp>
#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

Task<JobOutcome> nothing(JobContext&) { co_return JobOutcome::success(); }

struct Told {
  Reported reported = Reported::accepted;
  std::optional<Lease> renewed{};
  JobStatus status = JobStatus::running;
  std::size_t leased = 0;
};

/// Shuts down while a lease is out, and lets its time go by, with the job still known or forgotten by then.
Task<> shut_down_meanwhile(JobScheduler& scheduler, Told& told) {
  Job job(nothing);
  const JobHandle handle = co_await scheduler.submit(std::move(job));
  const std::optional<Lease> lease = co_await scheduler.lease("default", 5s);
  co_await scheduler.shut_down();
  told.reported = co_await scheduler.report(lease->id, lease->attempt, JobOutcome::success());
  told.renewed = scheduler.renew(lease->id, lease->attempt, 5s);
  told.status = handle.status();
  told.leased = scheduler.pools()[0].leased;
  co_await Sleep(10s);
}

Told told_after_shut_down(std::size_t retained) {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler({.retained = retained});
  scheduler.add_pool("default", {.workers = 0});
  Told told;
  executor.submit(shut_down_meanwhile(scheduler, told));
  executor.run();
  return told;
}

}  // namespace

TEST_CASE("Lease: a shut down takes it back, and its holder is told") {
  const Told told = told_after_shut_down(10);
  CHECK(told.reported == Reported::stale);
  CHECK(!told.renewed);
  CHECK(told.status == JobStatus::cancelled);
  CHECK(told.leased == 0);
}

TEST_CASE("Lease: one that is out when its job is forgotten keeps nothing waiting") {
  const Told told = told_after_shut_down(0);
  CHECK(told.reported == Reported::unknown);
  CHECK(told.status == JobStatus::cancelled);
}

namespace {

Task<> take_lease(JobScheduler& scheduler, std::optional<Lease>* lease) {
  *lease = co_await scheduler.lease("default", 5s);
}

/// Renews and reports an attempt that nobody has been given yet.
Task<> guess(JobScheduler& scheduler, std::vector<std::string>* seen) {
  Job job;
  job.kind = "nothing";
  const JobHandle handle = co_await scheduler.submit(std::move(job));
  std::optional<Lease> lease;
  Handle<void> taking = submit(take_lease(scheduler, &lease));
  co_await Yield();
  seen->push_back(lease ? "too late to guess" : to_string(handle.status()));
  seen->push_back(scheduler.renew(handle.id(), 1, 5s) ? "renewed" : "refused");
  const Reported reported = co_await scheduler.report(handle.id(), 1, JobOutcome::success());
  seen->push_back(to_string(reported));
  co_await taking;
  seen->push_back(scheduler.renew(handle.id(), 1, 5s) ? "renewed" : "refused");
}

}  // namespace

TEST_CASE("Lease: while the store writes the attempt nobody holds it") {
  MemoryStore store;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler({.store = &store});
  scheduler.add_pool("default", {.workers = 0});
  scheduler.handle("nothing", JobWork(nothing));
  std::vector<std::string> seen;
  executor.submit(guess(scheduler, &seen));
  executor.run_until(Instant(1s));
  CHECK(seen == std::vector<std::string>{"running", "refused", "stale", "renewed"});
}
