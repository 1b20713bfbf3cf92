// What becomes of a job: retries, timeouts, dependencies, cancels, keys, leases.

#include "schedule.hpp"

#include <memory>
#include <stdexcept>

#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

/// Runs `body(scheduler)` in virtual time; what it leaves running ends with it.
template <class Body>
void in_virtual_time(Body body, JobSchedulerOptions options = {}, PoolOptions pool = {}) {
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler(options);
  scheduler.add_pool("default", std::move(pool));
  executor.submit(body(scheduler));
  executor.run();
}

Task<JobOutcome> fails(JobContext& context, std::uint32_t until, std::vector<Instant>* starts) {
  starts->push_back(now());
  if (context.attempt() < until) co_return JobOutcome::retryable("not yet");
  co_return JobOutcome::success("done");
}

Task<JobOutcome> takes(JobContext&, Duration duration) {
  co_await Sleep(duration);
  co_return JobOutcome::success();
}

Task<JobOutcome> ends_with(JobContext&, JobOutcome outcome) { co_return outcome; }

Task<JobOutcome> throws(JobContext&) {
  co_await Yield();
  throw std::runtime_error("broken");
}

Job retrying(std::uint32_t until, std::uint32_t attempts, std::vector<Instant>& starts) {
  Job job(fails, until, &starts);
  job.retry.max_attempts = attempts;
  job.retry.jitter = RetryPolicy::Jitter::none;
  return job;
}

Task<> r1(JobScheduler& scheduler, std::vector<Instant>* starts, JobResult* result) {
  Job job = retrying(99, 8, *starts);
  JobHandle handle = co_await scheduler.submit(std::move(job));
  *result = co_await handle;
}

}  // namespace

SCENARIO("R1, R3: attempts come after .5, 1, 2, 4, 8, 16, 30 s, and the last failure is a dead letter") {
  std::vector<Instant> starts;
  JobResult result;
  in_virtual_time([&](JobScheduler& scheduler) { return r1(scheduler, &starts, &result); });
  CHECK(starts == std::vector<Instant>{Instant(0s), Instant(500ms), Instant(1500ms), Instant(3500ms),
                                       Instant(7500ms), Instant(15500ms), Instant(31500ms),
                                       Instant(61500ms)});
  CHECK(result.status == JobStatus::dead_lettered);
  CHECK(result.attempts == 8);
  CHECK(result.outcome.text() == "not yet");
}

namespace {
Task<> statuses(JobScheduler& scheduler, std::vector<std::string>* seen) {
  const auto note = [seen](const char* what, const JobResult& result) {
    seen->push_back(std::string(what) + ": " + to_string(result.status) + ", " +
                    std::to_string(result.attempts) + ", " + result.outcome.text());
  };
  std::vector<Instant> starts;
  Job second = retrying(2, 3, starts);
  JobHandle a = co_await scheduler.submit(std::move(second));
  Job failure(ends_with, JobOutcome::failure("no"));
  failure.retry.max_attempts = 3;
  JobHandle b = co_await scheduler.submit(std::move(failure));
  JobHandle c = co_await scheduler.submit(Job(throws));
  Job slow(takes, Duration(10s));
  slow.timeout = 1s;
  JobHandle d = co_await scheduler.submit(std::move(slow));
  JobHandle e = co_await scheduler.submit(Job(takes, Duration(10s)));
  JobHandle f = co_await scheduler.submit(Job(takes, Duration(10s)));
  co_await Sleep(5s);
  e.cancel();
  f.cancel();
  note("second try", co_await a);
  note("failure", co_await b);
  note("exception", co_await c);
  note("timeout", co_await d);
  note("cancelled running", co_await e);
  note("cancelled waiting", co_await f);
}
}  // namespace

TEST_CASE("Job: an end is told with its status, attempts and text") {
  std::vector<std::string> seen;
  in_virtual_time([&](JobScheduler& scheduler) { return statuses(scheduler, &seen); });
  CHECK(seen == std::vector<std::string>{"second try: succeeded, 2, done", "failure: failed, 1, no",
                                         "exception: failed, 1, exception: broken",
                                         "timeout: dead_lettered, 1, timed out after 1000000000 ns",
                                         "cancelled running: cancelled, 1, cancelled",
                                         "cancelled waiting: cancelled, 0, cancelled"});
}

namespace {
Task<> r10(JobScheduler& scheduler, std::vector<JobStatus>* ends) {
  JobHandle parent = co_await scheduler.submit(Job(ends_with, JobOutcome::retryable("no")));
  std::vector<JobHandle> handles;
  for (const Dependency::On on :
       {Dependency::On::failure, Dependency::On::success, Dependency::On::completion}) {
    Job child(takes, Duration(1s));
    child.after.emplace_back(parent.id(), on);
    handles.push_back(co_await scheduler.submit(std::move(child)));
  }
  Job grandchild(takes, Duration(1s));
  grandchild.after.emplace_back(handles[1].id());
  handles.push_back(co_await scheduler.submit(std::move(grandchild)));
  co_await parent;
  Job late(takes, Duration(1s));
  late.after.emplace_back(parent.id(), Dependency::On::failure);
  handles.push_back(co_await scheduler.submit(std::move(late)));
  for (const JobHandle& handle : handles) {
    const JobResult result = co_await handle;
    ends->push_back(result.status);
  }
}
}  // namespace

SCENARIO("R10: a dead letter is a failure to its dependents, and a skip goes on down the chain") {
  std::vector<JobStatus> ends;
  in_virtual_time([&](JobScheduler& scheduler) { return r10(scheduler, &ends); });
  CHECK(ends == std::vector<JobStatus>{JobStatus::succeeded, JobStatus::skipped, JobStatus::succeeded,
                                       JobStatus::skipped, JobStatus::succeeded});
}

namespace {
Task<> circle(JobScheduler& scheduler, std::string* message) {
  const auto job = [](std::string key, std::string after) {
    Job made(takes, Duration(1s));
    made.key = std::move(key);
    made.after.emplace_back(std::move(after));
    return made;
  };
  Job a = job("a", "c");
  Job b = job("b", "a");
  Job c = job("c", "b");
  co_await scheduler.submit(std::move(a));
  co_await scheduler.submit(std::move(b));
  try {
    co_await scheduler.submit(std::move(c));
  } catch (const JobRefused& refused) {
    *message = refused.what();
  }
  Job end(takes, Duration(1s));
  end.key = "c";
  co_await scheduler.submit(std::move(end));
  JobHandle last = *scheduler.find("b");
  const JobResult result = co_await last;
  if (!result.succeeded()) *message += ", and b did not run";
}
}  // namespace

TEST_CASE("Dependencies: a circle is refused, and named") {
  std::string message;
  in_virtual_time([&](JobScheduler& scheduler) { return circle(scheduler, &message); }, {},
                  {.unknown_parent = UnknownParent::wait});
  CHECK(message == "a circle of dependencies: c -> b -> a -> c");
}

namespace {
Task<> lifted(JobScheduler& scheduler, Timeline* timeline) {
  std::vector<JobHandle> handles;
  Job parent(sleep_job, std::string("parent"), Duration(1s), timeline);
  parent.priority = Priority::low;
  handles.push_back(co_await scheduler.submit(std::move(parent)));
  Job middle(sleep_job, std::string("middle"), Duration(1s), timeline);
  middle.priority = Priority::low;
  middle.after.emplace_back(handles[0].id());
  handles.push_back(co_await scheduler.submit(std::move(middle)));
  handles.push_back(co_await scheduler.submit(Job(sleep_job, std::string("normal"), Duration(1s), timeline)));
  Job child(sleep_job, std::string("child"), Duration(1s), timeline);
  child.priority = Priority::critical;
  child.after.emplace_back(handles[1].id());
  handles.push_back(co_await scheduler.submit(std::move(child)));
  for (const JobHandle& handle : handles) co_await handle;
}

Task<> lowered(JobScheduler& scheduler, Timeline* timeline) {
  Job parent(sleep_job, std::string("parent"), Duration(1s), timeline);
  parent.priority = Priority::low;
  JobHandle first = co_await scheduler.submit(std::move(parent));
  JobHandle normal = co_await scheduler.submit(Job(sleep_job, std::string("normal"), Duration(1s), timeline));
  Job child(sleep_job, std::string("child"), Duration(1s), timeline);
  child.priority = Priority::critical;
  child.after.emplace_back(first.id());
  JobHandle lifting = co_await scheduler.submit(std::move(child));
  lifting.cancel();
  co_await first;
}
}  // namespace

TEST_CASE("Dependencies: an urgent job lifts all that it waits for, until it goes") {
  Timeline timeline;
  in_virtual_time([&](JobScheduler& scheduler) { return lifted(scheduler, &timeline); });
  CHECK(timeline == Timeline{"parent[0-1]", "middle[1-2]", "child[2-3]", "normal[3-4]"});
  timeline.clear();
  in_virtual_time([&](JobScheduler& scheduler) { return lowered(scheduler, &timeline); });
  CHECK(timeline == Timeline{"normal[0-1]", "parent[1-2]"});
}

namespace {
Task<> keys(JobScheduler& scheduler, std::vector<JobId>* ids) {
  Job job(takes, Duration(1s));
  job.key = "once";
  Job again = job;
  JobHandle first = co_await scheduler.submit(std::move(job));
  ids->push_back(first.id());
  JobHandle second = co_await scheduler.submit(again);
  ids->push_back(second.id());
  co_await second;
  JobHandle third = co_await scheduler.submit(again);  // it is retained
  ids->push_back(third.id());
  Job other(takes, Duration(1s));
  JobHandle fourth = co_await scheduler.submit(std::move(other));
  co_await fourth;  // and pushes it out
  JobHandle fifth = co_await scheduler.submit(again);
  ids->push_back(fifth.id());
  co_await fifth;
}
}  // namespace

TEST_CASE("Keys: one job for each, while it is live or retained") {
  std::vector<JobId> ids;
  in_virtual_time([&](JobScheduler& scheduler) { return keys(scheduler, &ids); }, {.retained = 1});
  CHECK(ids == std::vector<JobId>{1, 1, 1, 3});
}

namespace {
Task<> first_id(JobScheduler& scheduler, JobId* id) {
  JobHandle handle = co_await scheduler.submit(Job(takes, Duration(1s)));
  *id = handle.id();
}
}  // namespace

SCENARIO("R5: the first id of a shard and epoch") {
  const auto first = [](std::uint8_t shard, std::uint16_t epoch) {
    JobId id = 0;
    in_virtual_time([&](JobScheduler& scheduler) { return first_id(scheduler, &id); },
                    {.shard = shard, .id_epoch = epoch});
    return id;
  };
  CHECK(first(0, 0) == 1);
  CHECK(first(1, 2) == 72059793061183489U);
  CHECK(first(255, 65535) == 18446742974197923841U);
}

namespace {
Task<> leases(JobScheduler& scheduler, std::vector<std::string>* seen) {
  const auto note = [seen](std::string text) { seen->push_back(std::move(text)); };
  Job job(takes, Duration(1s));
  job.retry.max_attempts = 3;
  job.retry.jitter = RetryPolicy::Jitter::none;
  JobHandle handle = co_await scheduler.submit(std::move(job));
  std::optional<Lease> first = co_await scheduler.lease("default", 10s);
  std::optional<Lease> none = co_await scheduler.lease("default", 10s);
  note(none ? "two leases" : "one lease");
  co_await Sleep(5s);
  note(scheduler.renew(first->id, first->attempt, 10s) ? "renewed" : "refused");
  co_await Sleep(9s);
  note(to_string(handle.status()));
  co_await Sleep(1500ms);  // lost at 15 s, ready again half a second later
  note(to_string(handle.status()));
  std::optional<Lease> second = co_await scheduler.lease("default", 10s);
  note("attempt " + std::to_string(second->attempt));
  Reported reported = co_await scheduler.report(first->id, first->attempt, JobOutcome::success("late"));
  note(to_string(reported));
  reported = co_await scheduler.report(second->id, second->attempt, JobOutcome::success("good"));
  note(to_string(reported));
  reported = co_await scheduler.report(99, 1, JobOutcome::success());
  note(to_string(reported));
  const JobResult result = co_await handle;
  note(result.outcome.text());
}
}  // namespace

TEST_CASE("Lease: a lost one is fenced off by the attempt number") {
  std::vector<std::string> seen;
  in_virtual_time([&](JobScheduler& scheduler) { return leases(scheduler, &seen); }, {}, {.workers = 0});
  CHECK(seen == std::vector<std::string>{"one lease", "renewed", "running", "ready", "attempt 2", "stale",
                                         "accepted", "unknown", "good"});
}

namespace {
Task<> letters(JobScheduler& scheduler, std::vector<std::size_t>* counts) {
  std::vector<Instant> starts;
  Job job = retrying(3, 2, starts);
  JobHandle handle = co_await scheduler.submit(std::move(job));
  co_await handle;
  counts->push_back(scheduler.dead_letters().size());
  scheduler.resubmit(handle.id());
  const JobResult result = co_await handle;
  counts->push_back(scheduler.dead_letters().size());
  counts->push_back(result.attempts);
  JobHandle dead = co_await scheduler.submit(Job(ends_with, JobOutcome::retryable("no")));
  co_await dead;
  counts->push_back(scheduler.drain_dead_letters().size());
  counts->push_back(scheduler.dead_letters().size());
}
}  // namespace

TEST_CASE("Dead letters: listed, resubmitted with attempt numbers that go on, drained") {
  std::vector<std::size_t> counts;
  in_virtual_time([&](JobScheduler& scheduler) { return letters(scheduler, &counts); });
  CHECK(counts == std::vector<std::size_t>{1, 0, 3, 1, 0});
}

namespace {

Task<> leave_live(JobScheduler& scheduler, std::vector<JobHandle>* handles) {
  for (int i = 0; i < 3; ++i) {
    Job job(takes, Duration(1s));
    job.resources.emplace_back("one at a time");
    handles->push_back(co_await scheduler.submit(std::move(job)));
  }
  co_await Sleep(2s);
  co_await scheduler.lease("default", 1h);
}

}  // namespace

TEST_CASE("JobScheduler: one that outlives its executor ends what is live, at the time at which that went") {
  std::vector<JobHandle> handles;
  {
    auto executor = std::make_unique<Executor>(ExecutorOptions{.time = TimeMode::virtual_time});
    JobScheduler scheduler;
    scheduler.add_pool("default", {.workers = 0});
    scheduler.add_semaphore("one at a time", 1);
    executor->submit(leave_live(scheduler, &handles));
    executor->run_until(Instant(3s));
    executor.reset();
  }
  for (const JobHandle& handle : handles) {
    CHECK(handle.status() == JobStatus::cancelled);
    CHECK(handle.result()->ended == Instant(3s));
  }
}

namespace {

Task<> ends_at_once(JobScheduler& scheduler, std::vector<JobResult>* results) {
  Job doomed(takes, Duration(1s));
  doomed.after.emplace_back("who never came");
  const JobHandle handle = co_await scheduler.submit(std::move(doomed));
  results->push_back(co_await handle);
  Job late(takes, Duration(1s));
  late.start = FixedStart{.at = Instant(1s), .tolerance = Duration(), .missed = FixedStart::Missed::skip};
  co_await Sleep(2s);
  const JobHandle missed = co_await scheduler.submit(std::move(late));
  results->push_back(co_await missed);
}

}  // namespace

TEST_CASE(
    "JobScheduler: a job that ends within its submit is there for its handle, though ends are not retained") {
  std::vector<JobResult> results;
  in_virtual_time([&](JobScheduler& scheduler) { return ends_at_once(scheduler, &results); }, {.retained = 0},
                  {.unknown_parent = UnknownParent::skip});
  REQUIRE(results.size() == 2);
  CHECK(results[0].status == JobStatus::skipped);
  CHECK(results[1].status == JobStatus::missed);
}

namespace {

Task<> new_handler(JobScheduler& scheduler, std::vector<std::string>* seen) {
  const auto handler = [seen](std::string name) {
    return JobWork([seen, name](JobContext&) -> Task<JobOutcome> {
      co_await Sleep(2s);
      seen->push_back(name);
      co_return JobOutcome::success();
    });
  };
  JobWork first = handler("a first one, of a name longer than a string holds in itself");
  scheduler.handle("handled", std::move(first));
  Job job;
  job.kind = "handled";
  const JobHandle running = co_await scheduler.submit(job);
  const JobHandle waiting = co_await scheduler.submit(job);
  co_await Sleep(1s);
  JobWork second = handler("second");
  scheduler.handle("handled", std::move(second));
  co_await running;
  co_await waiting;
}

}  // namespace

TEST_CASE(
    "JobScheduler: another handler does the attempts that begin from then on; what runs keeps its own") {
  std::vector<std::string> seen;
  in_virtual_time([&](JobScheduler& scheduler) { return new_handler(scheduler, &seen); });
  CHECK(seen ==
        std::vector<std::string>{"a first one, of a name longer than a string holds in itself", "second"});
}
