// Who gets in, who has to go, and what jobs share: bounds, overflow, resources, tenants, fixed starts.

#include "schedule.hpp"

#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

/// A scheduler whose only worker is busy for 100 s with a job of class critical, so that the rest waits.
struct Busy {
  explicit Busy(PoolOptions pool, JobSchedulerOptions options = {}) : scheduler(options) {
    scheduler.add_pool("default", std::move(pool));
  }
  Executor executor{{.time = TimeMode::virtual_time}};
  JobScheduler scheduler;
  Timeline timeline;
  std::vector<std::string> seen;

  Job job(std::string name, Priority priority, Duration duration = Duration(1s)) {
    Job made(sleep_job, std::move(name), duration, &timeline);
    made.priority = priority;
    return made;
  }
};

Task<> block(Busy& busy) {
  Job job = busy.job("block", Priority::critical, 100s);
  job.duration_hint = 100s;
  co_await busy.scheduler.submit(std::move(job));
  co_await Sleep(1s);
}

/// Submits, and notes "refused" or nothing.
Task<> offer(Busy& busy, std::string name, Priority priority) {
  Job job = busy.job(name, priority);
  job.key = name;
  try {
    co_await busy.scheduler.submit(std::move(job));
  } catch (const JobRefused& refused) {
    busy.seen.push_back(name + (refused.reason() == JobRefused::Reason::full ? " refused" : " wrong"));
  }
}

void note_live(Busy& busy) {
  for (const JobSummary& job : busy.scheduler.list())
    if (job.status == JobStatus::shed) busy.seen.push_back(job.key + " shed");
}

Task<> shed(Busy& busy, std::vector<Priority> first, Priority newcomer) {
  co_await block(busy);
  int number = 0;
  for (const Priority priority : first) {
    Task<> offered = offer(busy, std::to_string(++number), priority);
    co_await std::move(offered);
  }
  Task<> offered = offer(busy, "new", newcomer);
  co_await std::move(offered);
  note_live(busy);
}

std::vector<std::string> shedding(Overflow overflow, std::vector<Priority> first, Priority newcomer) {
  PoolOptions options;
  options.bounds.in_all = 3;
  options.overflow = overflow;
  Busy busy(options);
  busy.executor.submit(shed(busy, std::move(first), newcomer));
  busy.executor.run();
  return busy.seen;
}

using Seen = std::vector<std::string>;
constexpr auto low = Priority::low;
constexpr auto normal = Priority::normal;
constexpr auto high = Priority::high;

}  // namespace

SCENARIO("R6: shed_lowest takes the newest of the lowest class below the newcomer's") {
  CHECK(shedding(Overflow::shed_lowest, {normal, low, low}, high) == Seen{"3 shed"});
  CHECK(shedding(Overflow::shed_lowest, {normal, low, low}, low) == Seen{"new refused"});
  CHECK(shedding(Overflow::shed_lowest, {high, high, normal}, normal) == Seen{"new refused"});
}

SCENARIO("R7: shed_oldest takes the oldest Low") {
  CHECK(shedding(Overflow::shed_oldest, {normal, low, low}, normal) == Seen{"2 shed"});
  CHECK(shedding(Overflow::shed_oldest, {normal, high, normal}, high) == Seen{"new refused"});
  CHECK(shedding(Overflow::reject, {normal, low, low}, high) == Seen{"new refused"});
}

namespace {
Task<> wait_for_room(Busy& busy) {
  co_await block(busy);
  Task<> first = offer(busy, "first", normal);
  co_await std::move(first);
  submit(offer(busy, "n1", normal));
  submit(offer(busy, "n2", normal));
  submit(offer(busy, "h", high));
  Handle<void> gone = submit(offer(busy, "gone", high));
  co_await Sleep(1s);
  busy.seen.push_back(std::to_string(busy.scheduler.pools()[0].submitters) + " wait");
  gone.cancel();
  co_await Sleep(1s);
  busy.seen.push_back(std::to_string(busy.scheduler.pools()[0].submitters) + " wait");
}
}  // namespace

TEST_CASE("Overflow: submitters wait FIFO in their class, the higher class first, and may leave") {
  PoolOptions options;
  options.bounds.in_all = 1;
  Busy busy(options);
  busy.executor.submit(wait_for_room(busy));
  busy.executor.run();
  CHECK(busy.seen == Seen{"4 wait", "3 wait"});
  CHECK(busy.timeline ==
        Timeline{"block[0-100]", "first[100-101]", "h[101-102]", "n1[102-103]", "n2[103-104]"});
}

namespace {
Task<> headroom(Busy& busy) {
  co_await block(busy);
  for (const auto& [name, priority] : {std::pair("n1", normal), std::pair("n2", normal),
                                       std::pair("h1", high), std::pair("h2", high), std::pair("l", low)}) {
    Task<> offered = offer(busy, name, priority);
    co_await std::move(offered);
  }
}
}  // namespace

TEST_CASE("Bounds: headroom is kept for its class and those above") {
  PoolOptions options;
  options.bounds.in_all = 3;
  options.bounds.headroom[static_cast<std::size_t>(high)] = 2;
  options.overflow = Overflow::reject;
  Busy busy(options);
  busy.executor.submit(headroom(busy));
  busy.executor.run();
  CHECK(busy.seen == Seen{"n2 refused", "l refused"});
}

// ---- resources

namespace {
Job using_resource(Busy& busy, std::string name, std::uint64_t count, Duration duration) {
  Job job = busy.job(std::move(name), normal, duration);
  job.resources.emplace_back("r", count);
  return job;
}

Task<> share(Busy& busy) {
  busy.scheduler.add_semaphore("r", 2);
  std::vector<JobHandle> handles;
  for (const auto& [name, count] :
       {std::pair("a", 1), std::pair("big", 2), std::pair("b", 1), std::pair("c", 1)}) {
    Job job = using_resource(busy, name, static_cast<std::uint64_t>(count), 2s);
    handles.push_back(co_await busy.scheduler.submit(std::move(job)));
  }
  handles.push_back(co_await busy.scheduler.submit(busy.job("free", low)));
  for (const JobHandle& handle : handles) co_await handle;
}

Task<> tokens(Busy& busy) {
  busy.scheduler.add_token_bucket("r", Rate(2), 3);
  std::vector<JobHandle> handles;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    Job job = using_resource(busy, name, 1, 0s);
    handles.push_back(co_await busy.scheduler.submit(std::move(job)));
  }
  for (const JobHandle& handle : handles) {
    const JobResult result = co_await handle;
    busy.seen.push_back(std::to_string(result.started.time_since_epoch() / 1ms));
  }
}
}  // namespace

TEST_CASE("Resources: who asks for much is not passed by who asks for little; the rest goes on") {
  PoolOptions options;
  options.workers = 4;
  Busy busy(options);
  busy.executor.submit(share(busy));
  busy.executor.run();
  CHECK(busy.timeline == Timeline{"a[0-2]", "free[0-1]", "big[2-4]", "b[4-6]", "c[4-6]"});
}

SCENARIO("R4: a bucket of 2 a second and 3 at once lets the fourth through after half a second") {
  PoolOptions options;
  options.workers = 8;
  Busy busy(options);
  busy.executor.submit(tokens(busy));
  busy.executor.run();
  CHECK(busy.seen == Seen{"0", "0", "0", "500", "1000"});
}

// ---- tenants

namespace {
Task<> tenants(Busy& busy) {
  std::vector<JobHandle> handles;
  for (int i = 0; i < 6; ++i) {
    for (const char* tenant : {"a", "b"}) {
      Job job = busy.job(tenant, normal);
      job.tenant = tenant;
      handles.push_back(co_await busy.scheduler.submit(std::move(job)));
    }
  }
  for (const JobHandle& handle : handles) co_await handle;
}
}  // namespace

TEST_CASE("Tenants: dispatches go by weight") {
  PoolOptions options;
  options.tenant_weights = {{"a", 2}};
  Busy busy(options);
  busy.executor.submit(tenants(busy));
  busy.executor.run();
  std::string order;
  for (const std::string& ran : busy.timeline) order += ran.substr(0, 1);
  CHECK(order == "abaabaababbb");
}

// ---- fixed starts

namespace {
Task<> fixed(Busy& busy) {
  Job start = busy.job("start", normal);
  start.start = FixedStart{.at = Instant(10s)};
  JobHandle first = co_await busy.scheduler.submit(std::move(start));
  busy.seen.push_back(first.reserved() ? "reserved" : "not reserved");
  Job clash = busy.job("clash", normal);
  clash.start = FixedStart{.at = Instant(10s), .missed = FixedStart::Missed::skip};
  clash.start->tolerance = Duration::zero();
  JobHandle second = co_await busy.scheduler.submit(std::move(clash));
  busy.seen.push_back(second.reserved() ? "reserved" : "not reserved");
  for (const auto& [name, duration] : {std::pair("short", 5s), std::pair("long", 20s)}) {
    Job job = busy.job(name, normal, duration);
    job.duration_hint = duration;
    co_await busy.scheduler.submit(std::move(job));
  }
  const JobResult result = co_await second;
  busy.seen.push_back(to_string(result.status));
}
}  // namespace

TEST_CASE("Fixed start: a worker is held for it, a second one at the same time is a conflict") {
  Busy busy({});
  busy.executor.submit(fixed(busy));
  busy.executor.run();
  CHECK(busy.seen == Seen{"reserved", "not reserved", "missed"});
  CHECK(busy.timeline == Timeline{"short[0-5]", "start[10-11]", "long[11-31]"});
}

// ---- what is told

namespace {
Task<> told(Busy& busy) {
  co_await block(busy);
  for (const auto& [name, priority] : {std::pair("l", low), std::pair("h", high)}) {
    Task<> offered = offer(busy, name, priority);
    co_await std::move(offered);
  }
  Job late = busy.job("late", normal);
  late.deadline = Instant(101s);
  const Feasibility answer = busy.scheduler.feasibility(late);
  busy.seen.push_back(std::to_string(answer.jobs_ahead) + " ahead, late by " + to_string(answer.late_by));
  co_await Sleep(200s);
  busy.seen.push_back(busy.scheduler.explain(3, 2));
  busy.seen.push_back(busy.scheduler.explain(2, 3));
}
}  // namespace

TEST_CASE("Explain: a sentence with both scores; feasibility by the work ahead") {
  Busy busy({});
  busy.executor.submit(told(busy));
  busy.executor.run();
  CHECK(busy.seen == Seen{"1 ahead, late by 1 s",
                          "job 3 (high) went before job 2 (low) at 100 s: score 1198 (base 1000, aging 198, "
                          "urgency 0) against 208 "
                          "(base 10, aging 198, urgency 0)",
                          "it was the other way round: job 3 went at 100 s, job 2 at 101 s"});
}

namespace {
Task<> recurring(Busy& busy) {
  Recurring tick("tick", busy.job("tick", normal, 25s));
  tick.interval = 10s;
  busy.scheduler.every(std::move(tick));
  co_await Sleep(61s);
  busy.scheduler.stop_recurring("tick");
}
}  // namespace

TEST_CASE("Recurring: an occurrence is skipped while the one before is live") {
  Busy busy({});
  busy.executor.submit(recurring(busy));
  busy.executor.run();
  CHECK(busy.timeline == Timeline{"tick[10-35]", "tick[40-65]"});
}
