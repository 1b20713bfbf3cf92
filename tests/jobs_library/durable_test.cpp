// With a store: what is kept before who sees it, and what the next process finds.

#include "memory_store.hpp"
#include "schedule.hpp"

#include <span>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

using Seen = std::vector<std::string>;

Task<JobOutcome> log_and_sleep(JobContext& context, Seen* seen) {
  seen->push_back(context.payload() + " attempt " + std::to_string(context.attempt()) + " at " +
                  seconds(now()));
  co_await Sleep(10s);
  co_return JobOutcome::success(context.payload());
}

Job with_payload(std::string text) {
  Job job;
  job.kind = "log";
  job.payload = std::move(text);
  return job;
}

Task<> submit_three(JobScheduler& scheduler, MemoryStore& store, Seen* seen) {
  for (const char* name : {"a", "b", "c"}) {
    JobHandle handle = co_await scheduler.submit(with_payload(name));
    if (store.records.back().job.payload != name && store.records.back().kind == JobRecord::Kind::accepted)
      seen->push_back("submit came back too early");
  }
  co_await Sleep(15s);  // a has ended, b runs, c waits: and the process is killed
}

/// One process: a scheduler over the store, for so long.
template <class Body>
void process(MemoryStore& store, Seen& seen, Duration lifetime, Body body, std::size_t workers = 1) {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler({.store = &store});
  scheduler.add_pool("default", {.workers = workers});
  scheduler.handle("log", JobWork(log_and_sleep, &seen));
  executor.submit(body(scheduler));
  executor.run_for(lifetime);
}

Task<> restore(JobScheduler& scheduler, Seen* seen) {
  seen->push_back(std::to_string(scheduler.restore()) + " live");
  co_await Sleep(100s);
  JobHandle next = co_await scheduler.submit(with_payload("d"));
  seen->push_back("id " + std::to_string(next.id()));
  co_await next;
}

}  // namespace

TEST_CASE("Store: after a kill what had ended does not run, what ran does again, what waited goes on") {
  MemoryStore store;
  Seen seen;
  process(store, seen, 15s, [&](JobScheduler& scheduler) { return submit_three(scheduler, store, &seen); });
  CHECK(seen == Seen{"a attempt 1 at 0", "b attempt 1 at 10"});
  seen.clear();
  process(store, seen, 200s, [&](JobScheduler& scheduler) { return restore(scheduler, &seen); });
  CHECK(seen == Seen{"2 live", "b attempt 2 at 0", "c attempt 1 at 10", "id 4", "d attempt 1 at 100"});
}

namespace {
Task<> full_disk(JobScheduler& scheduler, Seen* seen) {
  JobHandle first = co_await scheduler.submit(with_payload("a"));
  try {
    co_await scheduler.submit(with_payload("b"));
    seen->push_back("accepted");
  } catch (const std::runtime_error& error) {
    seen->push_back(error.what());
  }
  try {
    co_await first;
    seen->push_back("ended");
  } catch (const std::runtime_error& error) {
    seen->push_back(std::string("no end: ") + error.what());
  }
}
}  // namespace

TEST_CASE("Store: one that fails is told to all who need it, and nothing is called done that is not kept") {
  MemoryStore store;
  store.fail_after = 1;
  Seen seen;
  process(store, seen, 100s, [&](JobScheduler& scheduler) { return full_disk(scheduler, &seen); });
  CHECK(seen == Seen{"the disk is full", "no end: the disk is full"});
}

namespace {
Task<> refuse_work(JobScheduler& scheduler, Seen* seen) {
  Timeline timeline;
  try {
    co_await scheduler.submit(Job(sleep_job, std::string("x"), Duration(1s), &timeline));
  } catch (const std::invalid_argument& error) {
    seen->push_back(error.what());
  }
}
Task<> stop(JobScheduler& scheduler, Seen* seen, JobScheduler::Shutdown how) {
  std::vector<JobHandle> handles;
  for (const char* name : {"a", "b"}) handles.push_back(co_await scheduler.submit(with_payload(name)));
  co_await Sleep(5s);
  Task<> end = scheduler.shut_down(how);
  co_await std::move(end);
  seen->push_back("down at " + seconds(now()));
  for (const JobHandle& handle : handles) seen->push_back(to_string(handle.status()));
}
}  // namespace

TEST_CASE("Store: work that is code can't be kept") {
  MemoryStore store;
  Seen seen;
  process(store, seen, 100s, [&](JobScheduler& scheduler) { return refuse_work(scheduler, &seen); });
  CHECK(seen == Seen{"a job of kind 'default' brings work, and a store can keep a payload alone"});
}

TEST_CASE("Shutdown: ends what runs, drains, or cancels; a store keeps the rest") {
  const auto run = [](JobScheduler::Shutdown how) {
    MemoryStore store;
    Seen seen;
    process(store, seen, 100s, [&](JobScheduler& scheduler) { return stop(scheduler, &seen, how); });
    std::size_t live = 0;
    for (const StoredState::Entry& entry : store.load().jobs) live += is_live(entry.status) ? 1 : 0;
    seen.push_back(std::to_string(live) + " kept");
    return seen;
  };
  CHECK(run(JobScheduler::Shutdown::finish) ==
        Seen{"a attempt 1 at 0", "down at 10", "succeeded", "cancelled", "1 kept"});
  CHECK(run(JobScheduler::Shutdown::drain) ==
        Seen{"a attempt 1 at 0", "b attempt 1 at 10", "down at 20", "succeeded", "succeeded", "0 kept"});
  CHECK(run(JobScheduler::Shutdown::cancel) ==
        Seen{"a attempt 1 at 0", "down at 5", "cancelled", "cancelled", "1 kept"});
}

namespace {

/// Has forgotten which id was the last.
class ForgetfulStore final : public JobStore {
 public:
  StoredState load() override {
    StoredState state = kept.load();
    state.last_id = 0;
    return state;
  }
  void write(std::span<const JobRecord> batch) override { kept.write(batch); }
  MemoryStore kept;
};

Task<> submit_another(JobScheduler& scheduler, std::vector<JobId>* ids) {
  const JobHandle handle = co_await scheduler.submit(with_payload("another"));
  ids->push_back(handle.id());
}

}  // namespace

TEST_CASE("Durable: ids go on behind those of the jobs that are there") {
  ForgetfulStore store;
  Seen seen;
  std::vector<JobId> ids;
  for (int i = 0; i < 2; ++i) {
    Executor executor({.time = TimeMode::virtual_time});
    JobScheduler scheduler({.store = &store});
    scheduler.add_pool("default", {.workers = 0});
    scheduler.handle("log", JobWork(log_and_sleep, &seen));
    executor.submit(submit_another(scheduler, &ids));
    executor.run_for(1s);
  }
  CHECK(ids == std::vector<JobId>{1, 2});
}
