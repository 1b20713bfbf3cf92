// What recurs: overlap, what was missed, and how it goes on in the next process.

#include "memory_store.hpp"
#include "schedule.hpp"

#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;
using Missed = Recurring::Missed;
using Overlap = Recurring::Overlap;

namespace {

constexpr WallTime midnight = 1'800'000'000'000'000'000 / 86'400'000'000'000 * 86'400'000'000'000;

/// "12 25s" for an attempt that begins in second 12 of the first day: of the first process and all that follow.
Task<JobOutcome> note_and_sleep(JobContext& context, JobScheduler* scheduler, Timeline* seen) {
  const Duration since(scheduler->wall_time(now()) - midnight);
  seen->push_back(std::to_string(since / 1s));
  if (context.remaining()) seen->back() += " due in " + std::to_string(*context.remaining() / 1s);
  co_await Sleep(std::chrono::seconds(std::stoll(context.payload())));
  co_return JobOutcome::success();
}

/// A process that begins `at` after midnight and is killed `lifetime` later.
template <class Body>
Timeline process(MemoryStore& store, Duration at, Duration lifetime, Body body) {
  Timeline seen;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler({.epoch = midnight + at.count(), .store = &store});
  scheduler.add_pool("default", {.workers = 4});
  scheduler.handle("note", JobWork(note_and_sleep, &scheduler, &seen));
  executor.submit(body(scheduler));
  executor.run_for(lifetime);
  return seen;
}

Recurring noting(std::string seconds, Duration interval) {
  Job job;
  job.kind = "note";
  job.payload = std::move(seconds);
  job.labels["colour"] = "red";
  Recurring recurring("tick", std::move(job));
  recurring.interval = interval;
  return recurring;
}

Task<> begin(JobScheduler& scheduler, Recurring recurring) {
  scheduler.every(std::move(recurring));
  co_await scheduler.kept();
}

Task<> go_on(JobScheduler& scheduler) {
  scheduler.restore();
  co_await Sleep(0s);
}

/// One process for the first `first`, and the next from `again` on, for so long.
Timeline over_a_restart(Recurring recurring, Duration first, Duration again, Duration lifetime) {
  MemoryStore store;
  Timeline seen =
      process(store, 0s, first, [&](JobScheduler& scheduler) { return begin(scheduler, recurring); });
  seen.push_back("killed");
  const Timeline rest =
      process(store, again, lifetime, [](JobScheduler& scheduler) { return go_on(scheduler); });
  seen.insert(seen.end(), rest.begin(), rest.end());
  return seen;
}

}  // namespace

TEST_CASE("Recurring: goes on after a restart, at the same times, with the same job") {
  Recurring tick = noting("1", 10s);
  tick.deadline_after = 5s;
  CHECK(over_a_restart(tick, 25s, 27s, 20s) ==
        Timeline{"10 due in 5", "20 due in 5", "killed", "30 due in 5", "40 due in 5"});
  MemoryStore store;
  process(store, 0s, 25s, [&](JobScheduler& scheduler) { return begin(scheduler, tick); });
  process(store, 30s, 1s, [](JobScheduler& scheduler) { return go_on(scheduler); });
  CHECK(store.load().jobs[0].job.labels.at("colour") == "red");
}

TEST_CASE("Recurring: what was missed is left out, or the latest of it comes at once") {
  Recurring tick = noting("1", 10s);
  tick.deadline_after = 15s;
  CHECK(over_a_restart(tick, 25s, 57s, 10s) ==
        Timeline{"10 due in 15", "20 due in 15", "killed", "60 due in 15"});
  tick.missed = Missed::run_late;
  CHECK(over_a_restart(tick, 25s, 57s, 10s) ==
        Timeline{"10 due in 15", "20 due in 15", "killed", "57 due in 8", "60 due in 15"});
  CHECK(over_a_restart(tick, 25s, 29s, 2s) ==
        Timeline{"10 due in 15", "20 due in 15", "killed", "30 due in 15"});
  Recurring daily = noting("1", 10s);
  daily.interval.reset();
  daily.cron = "0 2 * * *";
  daily.missed = Missed::run_late;
  CHECK(over_a_restart(daily, 1h, 100h, 30h) == Timeline{"killed", "360000", "439200"});
}

TEST_CASE("Recurring: the overlap rule counts the occurrence that the last process has left") {
  Recurring tick = noting("25", 10s);
  // That of 10 s was cut off at 34 s, and runs again until 60 s.
  tick.overlap = Overlap::skip;
  CHECK(over_a_restart(tick, 34s, 35s, 40s) == Timeline{"10", "killed", "35", "70"});
  tick.overlap = Overlap::queue;
  CHECK(over_a_restart(tick, 24s, 25s, 40s) == Timeline{"10", "killed", "25", "50"});
  tick.overlap = Overlap::allow;
  CHECK(over_a_restart(tick, 24s, 25s, 16s) == Timeline{"10", "20", "killed", "25", "25", "30", "40"});
  tick.overlap = Overlap::skip;
  tick.missed = Missed::run_late;
  CHECK(over_a_restart(tick, 24s, 45s, 40s) == Timeline{"10", "killed", "45", "80"});
}

namespace {
Task<> tell_next(JobScheduler& scheduler, Timeline* seen) {
  scheduler.restore();
  const WallTime next = scheduler.wall_time(*scheduler.recurring()[0].next);
  seen->push_back(std::to_string(Duration(next - midnight) / 1h));
  co_return;
}
}  // namespace

TEST_CASE(
    "Recurring: a clock that is set back by less than three hours repeats nothing, by more it is followed") {
  MemoryStore store;
  process(store, 0s, 9h + 1s, [](JobScheduler& scheduler) { return begin(scheduler, noting("1", 1h)); });
  Timeline seen;
  for (const Duration at : {Duration(6h + 30min), Duration(5h + 30min), Duration(30min)})
    process(store, at, 1s, [&](JobScheduler& scheduler) { return tell_next(scheduler, &seen); });
  CHECK(seen == Timeline{"10", "6", "1"});
}

namespace {
Task<> stop_one(JobScheduler& scheduler, Timeline* names) {
  scheduler.restore();
  for (const RecurringState& state : scheduler.recurring()) names->push_back(state.recurring.name);
  scheduler.stop_recurring("tick");
  scheduler.every([] {
    Recurring other = noting("1", 10s);
    other.name = "other";
    return other;
  }());
  co_await scheduler.kept();
}
Task<> take_twice(JobScheduler& scheduler, Timeline* errors) {
  // The store is read first, and knows the name.
  const auto refused = [&](Recurring recurring) {
    try {
      scheduler.every(std::move(recurring));
    } catch (const std::invalid_argument& error) {
      errors->push_back(error.what());
    }
  };
  Recurring other = noting("1", 10s);
  other.name = "other";
  refused(other);
  other.name = "third";
  other.job.pool = "none";
  refused(other);
  other.job.pool = "default";
  other.job.kind = "unknown";
  refused(other);
  Timeline timeline;
  other.job.work = JobWork(sleep_job, std::string("x"), Duration(1s), &timeline);
  refused(other);
  for (const RecurringState& state : scheduler.recurring()) errors->push_back(state.recurring.name);
  co_return;
}
}  // namespace

TEST_CASE("Recurring: one that was stopped does not come back, and a name is taken in the next process too") {
  MemoryStore store;
  Timeline seen;
  process(store, 0s, 5s, [](JobScheduler& scheduler) { return begin(scheduler, noting("1", 10s)); });
  process(store, 10s, 5s, [&](JobScheduler& scheduler) { return stop_one(scheduler, &seen); });
  CHECK(seen == Timeline{"tick"});
  seen.clear();
  process(store, 20s, 5s, [&](JobScheduler& scheduler) { return take_twice(scheduler, &seen); });
  CHECK(seen == Timeline{"recurring job 'other' is there already", "there is no pool 'none'",
                         "a job of kind 'unknown' brings no work, and its kind has no handler",
                         "a job of kind 'unknown' brings work, and a store can keep a payload alone",
                         "other"});
}

namespace {
Task<> keep_on_a_full_disk(JobScheduler& scheduler, Timeline* seen) {
  try {
    scheduler.every(noting("1", 10s));
    co_await scheduler.kept();
    seen->push_back("kept");
  } catch (const std::runtime_error& error) {
    seen->push_back(error.what());
  }
}
}  // namespace

TEST_CASE("Recurring: what the store could not keep is told to who waits for it") {
  MemoryStore store;
  store.fail_after = 0;
  Timeline seen;
  process(store, 0s, 5s, [&](JobScheduler& scheduler) { return keep_on_a_full_disk(scheduler, &seen); });
  CHECK(seen == Timeline{"the disk is full"});
}

namespace {

Task<> begin_after_the_end(JobScheduler& scheduler, bool* refused) {
  co_await scheduler.shut_down();
  try {
    scheduler.every(noting("1", 10s));
  } catch (const JobRefused& error) {
    *refused = error.reason() == JobRefused::Reason::closed;
  }
}

}  // namespace

TEST_CASE("Recurring: nothing begins after a shut down, and no run waits for it") {
  MemoryStore store;
  bool refused = false;
  process(store, 0s, 100s, [&](JobScheduler& scheduler) { return begin_after_the_end(scheduler, &refused); });
  CHECK(refused);
  CHECK(store.records.empty());
}
