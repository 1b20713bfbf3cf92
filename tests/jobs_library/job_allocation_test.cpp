#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/jobs/job_scheduler.hpp>
#include <bide/tests/counted_allocations.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;

constexpr std::size_t worker_count = 16;
constexpr std::size_t queued_count = 1'000;
constexpr std::size_t cycle_count = 20'000;

/// What is submitted in a run, and what it cost: the first half of the cycles warms up, the second is counted.
struct Run {
  JobScheduler& scheduler;
  std::size_t deadline_every;
  std::size_t submitted = 0;
  std::size_t ended = 0;
  std::uint64_t allocations_before = 0;
  std::uint64_t allocations = 0;

  void configure(Job& job) {
    job.priority = static_cast<Priority>(submitted % priority_count);
    job.kind = submitted % 3 == 0 ? "sometimes" : "often";
    if (deadline_every != 0 && submitted % deadline_every == 0)
      job.deadline_in = 30s + Duration(1ms) * static_cast<std::int64_t>(submitted * 7 % 11);
    ++submitted;
  }
  void count_end() {
    ++ended;
    if (ended == cycle_count / 2) allocations_before = test::allocations::count;
    if (ended == cycle_count) allocations = test::allocations::count - allocations_before;
  }
};

Task<JobOutcome> nothing(JobContext&) { co_return JobOutcome::success(); }

Task<> submit_one(Run& run) {
  Job job(nothing);
  run.configure(job);
  co_await run.scheduler.submit(std::move(job));
}

Task<> leased(Run& run) {
  struct Held {
    JobId id;
    std::uint32_t attempt;
  };
  std::vector<Held> held;
  for (std::size_t i = 0; i < worker_count + queued_count; ++i) co_await submit_one(run);
  for (std::size_t i = 0; i < worker_count; ++i) {
    const std::optional<Lease> lease = co_await run.scheduler.lease("default", 1h);
    held.push_back({lease->id, lease->attempt});
  }
  for (std::size_t i = 0; i < cycle_count; ++i) {
    Held& worker = held[i % worker_count];
    co_await Sleep(1ms);
    co_await run.scheduler.report(worker.id, worker.attempt, JobOutcome::success());
    co_await submit_one(run);
    const std::optional<Lease> lease = co_await run.scheduler.lease("default", 1h);
    worker = {lease->id, lease->attempt};
    run.count_end();
  }
  co_await run.scheduler.shut_down();
}

Task<JobOutcome> replace_itself(JobContext&, Run* run) {
  co_await Sleep(1ms);
  run->count_end();
  Job job(replace_itself, run);
  run->configure(job);
  co_await run->scheduler.submit(std::move(job));
  co_return JobOutcome::success();
}

Task<> in_threads(Run& run) {
  for (std::size_t i = 0; i < worker_count + queued_count; ++i) {
    Job job(replace_itself, &run);
    run.configure(job);
    co_await run.scheduler.submit(std::move(job));
  }
  while (run.ended < cycle_count) co_await Sleep(10ms);
  co_await run.scheduler.shut_down(JobScheduler::Shutdown::cancel);
}

std::uint64_t allocations_of(Task<> (*act)(Run&), std::size_t workers, std::size_t deadline_every) {
  Executor executor({.time = TimeMode::virtual_time});
  frame_pool.limit_kept_bytes(std::size_t{64} << 20U);  // with AddressSanitizer it is zero
  JobScheduler scheduler({.retained = 500});
  scheduler.add_pool("default", {.workers = workers});
  Run run{scheduler, deadline_every};
  executor.submit(act(run));
  executor.run();
  REQUIRE(run.ended >= cycle_count);
  return run.allocations;
}

TEST_CASE("JobScheduler: after warm-up an end, a submit and a lease allocate nothing") {
  CHECK(allocations_of(leased, 0, 0) == 0);
  CHECK(allocations_of(leased, 0, 4) == 0);
  CHECK(allocations_of(leased, 0, 1) == 0);
}

TEST_CASE(
    "JobScheduler: after warm-up an attempt in a thread of its own, its end and a submit allocate nothing") {
  CHECK(allocations_of(in_threads, worker_count, 0) == 0);
  CHECK(allocations_of(in_threads, worker_count, 4) == 0);
}

// ---- a submit without memory

/// Lets each allocation of a submit fail, one after the other, and tells how many did, and whether all was left as it was.
Task<> submit_without_memory(JobScheduler& scheduler, std::size_t* failures, bool* left_all) {
  for (std::size_t number = 1;; ++number) {
    const std::string payload = "a payload that is longer than a string holds in itself";
    Job job(nothing);
    job.kind = "a kind that is asked for in vain, and is none afterwards";
    job.payload = payload;
    job.resources.emplace_back("one at a time");
    const std::int64_t alive = test::allocations::alive;
    bool failed = false;
    {
      const test::allocations::Failing failing(number, test::allocations::Failing::Which::one);
      try {
        co_await scheduler.submit(std::move(job));
      } catch (const std::bad_alloc&) {
        failed = true;
      }
    }
    if (!failed) break;
    ++*failures;
    *left_all = *left_all && job.payload == payload && job.work && test::allocations::alive == alive;
  }
}

Task<> submit_many(JobScheduler& scheduler, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Job job(nothing);
    co_await scheduler.submit(std::move(job));
  }
}

TEST_CASE("JobScheduler: a submit that gets no memory leaves the job with the caller, and nothing else") {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  scheduler.add_pool("default", {.workers = 0});
  scheduler.add_semaphore("one at a time", 1);
  executor.submit(submit_many(scheduler, 20));  // the arrays have room for one more
  executor.run();
  std::size_t failures = 0;
  bool left_all = true;
  executor.submit(submit_without_memory(scheduler, &failures, &left_all));
  executor.run();
  CHECK(failures >= 4);  // the kind and its name, what few jobs have, and what it needs
  CHECK(left_all);
  CHECK(scheduler.pools().front().waiting == 21);
}

/// The same for a job with a key, which one waits for and which waits for one.
Task<> submit_linked_without_memory(JobScheduler& scheduler, std::size_t* failures, bool* left_all,
                                    std::vector<std::string>* order) {
  const auto note = [order](std::string name) {
    return JobWork([order, name](JobContext&) -> Task<JobOutcome> {
      order->push_back(name);
      co_return JobOutcome::success();
    });
  };
  const std::string parent_key = "the parent's key, which is longer than a string holds in itself";
  const std::string key = "the key of the one in between, which is longer than a string holds in itself";
  Job parent;
  parent.work = note("parent");
  parent.key = parent_key;
  co_await scheduler.submit(std::move(parent));
  Job child;
  child.work = note("child");
  child.after.emplace_back(key);
  child.after.emplace_back(parent_key);
  const JobHandle last = co_await scheduler.submit(std::move(child));
  for (std::size_t number = 1;; ++number) {
    Job job;
    job.work = note("between");
    job.key = key;
    job.priority = Priority::high;
    job.deadline_in = std::chrono::seconds(1);
    job.after.emplace_back(parent_key);
    bool failed = false;
    {
      const test::allocations::Failing failing(number, test::allocations::Failing::Which::one);
      try {
        co_await scheduler.submit(std::move(job));
      } catch (const std::bad_alloc&) {
        failed = true;
      }
    }
    if (!failed) break;
    ++*failures;
    *left_all = *left_all && job.key == key && job.work && job.after.size() == 1 &&
                scheduler.list().size() == 2 && !scheduler.find(key) && scheduler.pools()[0].waiting == 2;
  }
  scheduler.resize_pool("default", 1);
  co_await last;
}

TEST_CASE("JobScheduler: a submit that gets no memory leaves edges as they were") {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  scheduler.add_pool("default", {.workers = 0, .unknown_parent = UnknownParent::wait});
  std::size_t failures = 0;
  bool left_all = true;
  std::vector<std::string> order;
  executor.submit(submit_linked_without_memory(scheduler, &failures, &left_all, &order));
  executor.run();
  CHECK(failures >= 6);
  CHECK(left_all);
  CHECK(order == std::vector<std::string>{"parent", "between", "child"});
}

// ---- what is left of kinds that never come again

std::string name_of(std::size_t number) { return "a kind of a name of its own, " + std::to_string(number); }

Task<> submit_kinds(JobScheduler& scheduler, std::size_t from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Job job(nothing);
    job.kind = name_of(from + i);
    const JobHandle handle = co_await scheduler.submit(std::move(job));
    co_await handle;
  }
}

Task<> submit_and_leave(JobScheduler& scheduler, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Job job(nothing);
    job.kind = name_of(i);
    co_await scheduler.submit(std::move(job));
  }
}

Task<> submit_refused(JobScheduler& scheduler, std::size_t count, std::size_t& refused) {
  for (std::size_t i = 0; i < count; ++i) {
    Job job;  // no work, and no handler
    job.kind = name_of(i);
    try {
      co_await scheduler.submit(std::move(job));
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
}

TEST_CASE("JobScheduler: a kind without a handler is forgotten with the last of its jobs") {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler({.retained = 10});
  executor.submit(submit_kinds(scheduler, 0, 3'000));  // and as many ids as fill some pages
  executor.run();
  const std::int64_t alive = test::allocations::alive;
  executor.submit(submit_kinds(scheduler, 3'000, 3'000));
  executor.run();
  CHECK(test::allocations::alive == alive);
}

class NamesAtTheEnd final : public Observer {
 public:
  void ended(const GreenThread& thread, Instant) override {
    if (thread.name != nullptr) names.emplace_back(thread.name);
  }
  std::vector<std::string> names{};
};

TEST_CASE("JobScheduler: the thread of an attempt keeps its name when the kind is forgotten with the job") {
  NamesAtTheEnd observer;
  Executor executor({.time = TimeMode::virtual_time, .observer = &observer});
  JobScheduler scheduler({.retained = 0});
  executor.submit(submit_and_leave(scheduler, 3));
  executor.run();
  CHECK(observer.names == std::vector<std::string>{name_of(0), name_of(1), name_of(2)});
}

TEST_CASE("JobScheduler: a refused job leaves nothing behind") {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  std::size_t refused = 0;
  executor.submit(submit_refused(scheduler, 10, refused));
  executor.run();
  const std::int64_t alive = test::allocations::alive;
  executor.submit(submit_refused(scheduler, 1'000, refused));
  executor.run();
  CHECK(refused == 1'010);
  CHECK(test::allocations::alive == alive);
}

TEST_CASE("JobScheduler: a kind with a handler stays, and goes with it") {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler({.retained = 1});
  scheduler.handle("handled", nothing);
  executor.submit(submit_kinds(scheduler, 0, 10));
  executor.run();
  Job job;
  job.kind = "handled";
  std::optional<JobResult> result;
  const auto submit_and_wait = [](JobScheduler& jobs, Job given, std::optional<JobResult>& answer) -> Task<> {
    const JobHandle handle = co_await jobs.submit(std::move(given));
    answer = co_await handle;
  };
  executor.submit(submit_and_wait(scheduler, job, result));
  executor.run();
  CHECK(result->succeeded());
}

}  // namespace
