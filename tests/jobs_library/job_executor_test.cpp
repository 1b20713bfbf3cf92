// A scheduler whose executor is full, stops, or goes first.

#include "memory_store.hpp"
#include "schedule.hpp"

#include <memory>

#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

Task<JobOutcome> takes(JobContext&, Duration duration) {
  co_await Sleep(duration);
  co_return JobOutcome::success();
}

Task<> sleep_until(Duration at) { co_await SleepUntil(Instant(at)); }

Job job_of_kind(std::string kind) {
  Job job;
  job.kind = std::move(kind);
  return job;
}

/// Submits while no other thread finds room, and tells when the job began and ended.
Task<> submit_when_full(JobScheduler& scheduler, Duration room_at, std::vector<Instant>* times) {
  submit(sleep_until(room_at));  // with this thread, all that the executor takes
  const JobHandle handle = co_await scheduler.submit(job_of_kind("takes"));
  const JobResult result = co_await handle;
  times->insert(times->end(), {result.started, result.ended});
}

/// What became of a job in an executor that has room for one more thread from 10 s on.
std::vector<Instant> times_when_full(JobStore* store) {
  Executor executor({.time = TimeMode::virtual_time, .capacity = 2});
  JobScheduler scheduler({.store = store});
  scheduler.handle("takes", JobWork(takes, Duration(1s)));
  std::vector<Instant> times;
  executor.submit(submit_when_full(scheduler, 10s, &times));
  const RunReport report = executor.run();
  times.push_back(report.now);
  return times;
}

}  // namespace

TEST_CASE("Full executor: a job begins when a thread has ended") {
  CHECK(times_when_full(nullptr) == std::vector<Instant>{Instant(10s), Instant(11s), Instant(11s)});
}

TEST_CASE("Full executor: so does what writes to the store, and the decision is made once") {
  MemoryStore store;
  CHECK(times_when_full(&store) == std::vector<Instant>{Instant(10s), Instant(11s), Instant(11s)});
  CHECK(store.records.size() == 3);  // accepted, started, ended
}

namespace {

/// The only thread that the executor takes besides this one comes between the record of a start and its thread.
Task<> fill_while_storing(JobScheduler& scheduler, std::vector<Instant>* times) {
  const JobHandle handle = co_await scheduler.submit(job_of_kind("takes"));
  while (handle.status() != JobStatus::running) co_await Yield();
  std::vector<Handle<void>> fillers;
  Task<> filler = sleep_until(10s);
  while (std::optional<Handle<void>> one = Executor::current().try_submit(filler)) {
    fillers.push_back(std::move(*one));
    filler = sleep_until(10s);
  }
  const JobResult result = co_await handle;
  times->insert(times->end(), {result.started, result.ended});
}

}  // namespace

TEST_CASE(
    "Full executor: an attempt that finds no room after its record is kept goes back, and comes again") {
  MemoryStore store;
  Executor executor({.time = TimeMode::virtual_time, .capacity = 3});
  JobScheduler scheduler({.store = &store});
  scheduler.handle("takes", JobWork(takes, Duration(1s)));
  std::vector<Instant> times;
  executor.submit(fill_while_storing(scheduler, &times));
  executor.run();
  REQUIRE(times.size() == 2);
  CHECK(times[1] - times[0] == 1s);
  CHECK(store.records.size() <= 5);  // not one for each turn of the loop
}

namespace {

Task<> schedule_when_full(JobScheduler& scheduler, std::vector<Instant>* times) {
  Handle<void> filler = submit(sleep_until(5s));
  Job job(takes, Duration(1s));
  job.start = FixedStart{.at = Instant(20s)};
  const JobHandle handle = co_await scheduler.submit(std::move(job));
  co_await Sleep(6s);
  times->push_back(now());
}

}  // namespace

TEST_CASE("Full executor: a run does not end before a fixed start that found no room to wait") {
  Executor executor({.time = TimeMode::virtual_time, .capacity = 2});
  JobScheduler scheduler;
  std::vector<Instant> times;
  executor.submit(schedule_when_full(scheduler, &times));
  CHECK(executor.run().now == Instant(21s));
  CHECK(times == std::vector<Instant>{Instant(6s)});
}

namespace {

Task<> submit_and_stop(JobScheduler& scheduler, std::vector<JobHandle>* handles) {
  for (int i = 0; i < 3; ++i) {
    Job job(takes, Duration(10s));
    handles->push_back(co_await scheduler.submit(std::move(job)));
  }
  co_await Sleep(1s);
  Executor::current().stop();
}

}  // namespace

TEST_CASE("Stopped executor: what had not begun runs in the next run") {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  std::vector<JobHandle> handles;
  executor.submit(submit_and_stop(scheduler, &handles));
  executor.run();
  REQUIRE(handles.size() == 3);
  CHECK(handles[0].status() == JobStatus::cancelled);
  CHECK(handles[1].status() == JobStatus::ready);
  executor.run();
  CHECK(handles[1].status() == JobStatus::succeeded);
  CHECK(handles[2].status() == JobStatus::succeeded);
  CHECK(executor.now() == Instant(21s));
}

namespace {

Task<> leave_all_kinds(JobScheduler& scheduler, std::vector<JobHandle>* handles) {
  for (int i = 0; i < 3; ++i) handles->push_back(co_await scheduler.submit(job_of_kind("takes long")));
  Job later = job_of_kind("takes");
  later.start = FixedStart{.at = Instant(2h)};
  handles->push_back(co_await scheduler.submit(std::move(later)));
  Job outside = job_of_kind("takes");
  outside.pool = "outside";
  outside.retry.max_attempts = 3;
  handles->push_back(co_await scheduler.submit(std::move(outside)));
  co_await scheduler.lease("outside", 1h);
  Recurring recurring("tick", job_of_kind("takes"));
  recurring.interval = Duration(1h);
  scheduler.every(std::move(recurring));
  co_await Sleep(2s);
}

}  // namespace

TEST_CASE("JobScheduler: one whose executor is gone answers as of then, and does nothing more") {
  MemoryStore store;
  for (JobStore* const kept : {static_cast<JobStore*>(nullptr), static_cast<JobStore*>(&store)}) {
    auto executor = std::make_unique<Executor>(ExecutorOptions{.time = TimeMode::virtual_time});
    JobScheduler scheduler({.store = kept});
    scheduler.add_pool("outside", {.workers = 0});
    scheduler.handle("takes", JobWork(takes, Duration(1s)));
    scheduler.handle("takes long", JobWork(takes, Duration(1h)));
    std::vector<JobHandle> handles;
    executor->submit(leave_all_kinds(scheduler, &handles));
    executor->run_until(Instant(3s));
    executor.reset();
    REQUIRE(handles.size() == 5);
    CHECK(handles[0].status() == JobStatus::cancelled);  // its thread went with the executor
    CHECK(!scheduler.cancel(handles[0].id()));
    CHECK(handles[1].status() == JobStatus::ready);
    CHECK(handles[1].cancel());
    CHECK(handles[1].result()->ended == Instant(3s));
    CHECK(handles[3].cancel());
    CHECK(!scheduler.renew(handles[4].id(), 1, 1h));
    CHECK(handles[4].cancel());
    CHECK(scheduler.pools().size() == 2);
    CHECK(!scheduler.metrics().empty());
    JobFilter filter;
    filter.order = JobFilter::Order::urgency;
    CHECK(scheduler.list(filter).size() == 1);
    CHECK(scheduler.feasibility(Job()).estimate > Duration::zero());
    scheduler.resize_pool("default", 10);
    CHECK(scheduler.recurring().size() == 1);
    CHECK(scheduler.stop_recurring("tick"));
    CHECK(scheduler.drain_dead_letters().empty());

    Executor other({.time = TimeMode::virtual_time});
    std::vector<std::string> seen;
    const auto try_again = [](JobScheduler& gone, std::vector<JobHandle>& old,
                              std::vector<std::string>& told) -> Task<> {
      try {
        co_await gone.submit(job_of_kind("takes"));
      } catch (const JobRefused& refused) {
        told.push_back(refused.reason() == JobRefused::Reason::closed ? "closed" : "wrong");
      }
      const std::optional<Lease> lease = co_await gone.lease("outside", 1s);
      told.push_back(lease ? "leased" : "nothing");
      const Reported reported = co_await gone.report(old[4].id(), 1, JobOutcome::retryable("again"));
      told.push_back(to_string(reported));
      co_await gone.shut_down();
    };
    other.submit(try_again(scheduler, handles, seen));
    other.run();
    CHECK(seen == std::vector<std::string>{"closed", "nothing", "stale"});
  }
}

namespace {

Task<> submit_durable(JobScheduler& scheduler, std::vector<JobHandle>* handles) {
  handles->push_back(co_await scheduler.submit(job_of_kind("takes")));
}

}  // namespace

TEST_CASE("JobScheduler: an executor that goes before the store was written to leaves nothing behind") {
  for (int turns = 1; turns < 12; ++turns) {
    MemoryStore store;
    JobScheduler scheduler({.store = &store});
    scheduler.handle("takes", JobWork(takes, Duration(1s)));
    std::vector<JobHandle> handles;
    Executor executor({.time = TimeMode::virtual_time});
    executor.submit(submit_durable(scheduler, &handles));
    for (int turn = 0; turn < turns; ++turn) executor.run_one();
  }
}

namespace {

Task<> submit_for_room(JobScheduler& scheduler, std::string* seen) {
  try {
    Job job(takes, Duration(1s));
    co_await scheduler.submit(std::move(job));
    *seen = "submitted";
  } catch (const JobRefused& refused) {
    *seen = refused.reason() == JobRefused::Reason::closed ? "closed" : "wrong";
  }
}

Task<> destroy_under_submitter(std::unique_ptr<JobScheduler> scheduler, std::string* seen) {
  Job job(takes, Duration(1s));
  co_await scheduler->submit(std::move(job));
  Handle<void> submitting = submit(submit_for_room(*scheduler, seen));
  co_await Yield();
  scheduler.reset();
  co_await submitting;
}

}  // namespace

TEST_CASE("JobScheduler: who waits for room when it is destroyed is refused") {
  Executor executor({.time = TimeMode::virtual_time});
  auto scheduler = std::make_unique<JobScheduler>();
  PoolOptions options;
  options.workers = 0;
  options.bounds.in_all = 1;
  scheduler->add_pool("default", options);
  std::string seen;
  executor.submit(destroy_under_submitter(std::move(scheduler), &seen));
  executor.run();
  CHECK(seen == "closed");
}

namespace {

Task<JobOutcome> fails_once(JobContext& context) {
  co_await Sleep(3ns);
  if (context.attempt() == 1) co_return JobOutcome::retryable("not yet", 2ns);
  co_return JobOutcome::success();
}

/// When a scheduler is destroyed: the store has all that was written before the instant, and nothing of what came in it.
struct Moment {
  Duration at;
  int turns;
};

Task<> destroy_at(std::unique_ptr<JobScheduler> scheduler, Moment moment, std::vector<JobHandle>* handles) {
  for (const char* kind : {"takes", "fails once", "takes"}) {
    Job job = job_of_kind(kind);
    handles->push_back(co_await scheduler->submit(std::move(job)));
  }
  Job outside = job_of_kind("takes");
  outside.pool = "outside";
  handles->push_back(co_await scheduler->submit(std::move(outside)));
  const std::optional<Lease> lease = co_await scheduler->lease("outside", 5ns);
  co_await SleepUntil(Instant(moment.at));
  if (moment.at == 2ns) handles->at(2).cancel();
  if (moment.at == 4ns) handles->at(0).cancel();
  for (int turn = 0; turn < moment.turns; ++turn) co_await Yield();
  scheduler.reset();
  co_await Sleep(1us);
}

}  // namespace

TEST_CASE("JobScheduler: it may be destroyed at any moment, while the store writes too") {
  for (const std::size_t retained : {0U, 100U}) {
    for (int moment = 0; moment < 80; ++moment) {
      MemoryStore store;
      Executor executor({.time = TimeMode::virtual_time});
      auto scheduler =
          std::make_unique<JobScheduler>(JobSchedulerOptions{.retained = retained, .store = &store});
      scheduler->add_pool("default", {.workers = 2});
      scheduler->add_pool("outside", {.workers = 0});
      scheduler->handle("takes", JobWork(takes, Duration(3ns)));
      scheduler->handle("fails once", JobWork(fails_once));
      std::vector<JobHandle> handles;
      const Moment at{.at = Duration(moment / 4), .turns = moment % 4};
      executor.submit(destroy_at(std::move(scheduler), at, &handles));
      executor.run();
      for (const JobHandle& handle : handles) CHECK(handle.ended());
    }
  }
}
