// The whole against a naive twin: the order of dispatches against a sorted list, and what no history may break.

#include "schedule.hpp"

#include <algorithm>
#include <map>

#include <bide/executor/random.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

struct Plan {
  std::size_t number;
  Priority priority;
  Instant submitted;
  Duration duration;
  std::optional<Instant> deadline;
};

std::vector<Plan> random_plans(Random& random, std::size_t count) {
  std::vector<Plan> plans;
  Instant at{};
  for (std::size_t i = 0; i < count; ++i) {
    at += Duration(1s) * static_cast<std::int64_t>(random.below(4) == 0 ? random.below(6) : 0);
    Plan plan{i,
              static_cast<Priority>(random.below(4)),
              at,
              Duration(1s) * static_cast<std::int64_t>(1 + random.below(9)),
              {}};
    if (random.below(2) == 0) plan.deadline = at + Duration(1s) * static_cast<std::int64_t>(random.below(60));
    plans.push_back(plan);
  }
  return plans;
}

/// Of each class the oldest without and the earliest latest start with a deadline; of these the best score.
std::size_t choose(const std::vector<Plan>& ready, Instant now) {
  const auto rank = [&](const Plan& plan) {
    const auto latest = plan.deadline
                            ? urgency::latest_start(plan.deadline->time_since_epoch(), plan.duration)
                            : Urgency::none;
    const Urgency moving{latest, urgency::horizon(plan.duration), plan.submitted.time_since_epoch()};
    return Rank{urgency::score(plan.priority, &moving, now.time_since_epoch(), Aging::on), plan.priority,
                latest, plan.number};
  };
  const auto heads_its_lane = [&](const Plan& plan) {
    return std::none_of(ready.begin(), ready.end(), [&](const Plan& other) {
      return other.priority == plan.priority && other.deadline.has_value() == plan.deadline.has_value() &&
             std::pair(rank(other).latest_start, other.number) <
                 std::pair(rank(plan).latest_start, plan.number);
    });
  };
  std::size_t best = ready.size();
  for (std::size_t i = 0; i < ready.size(); ++i)
    if (heads_its_lane(ready[i]) && (best == ready.size() || goes_before(rank(ready[i]), rank(ready[best]))))
      best = i;
  return best;
}

/// One worker, by the book.
Timeline naive(std::vector<Plan> coming) {
  Timeline timeline;
  std::vector<Plan> ready;
  Instant now{};
  while (!coming.empty() || !ready.empty()) {
    if (ready.empty() && coming.front().submitted > now) now = coming.front().submitted;
    while (!coming.empty() && coming.front().submitted <= now) {
      ready.push_back(coming.front());
      coming.erase(coming.begin());
    }
    const std::size_t chosen = choose(ready, now);
    const Plan plan = ready[chosen];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
    timeline.push_back(std::to_string(plan.number) + "[" + seconds(now) + "-" + seconds(now + plan.duration) +
                       "]");
    now += plan.duration;
  }
  return timeline;
}

Timeline scheduled(const std::vector<Plan>& plans) {
  std::vector<Planned> planned;
  for (const Plan& plan : plans) {
    planned.push_back(
        {.name = std::to_string(plan.number),
         .priority = plan.priority,
         .duration = plan.duration,
         .deadline = plan.deadline ? std::optional(plan.deadline->time_since_epoch()) : std::nullopt,
         .hint = plan.duration,
         .submit_at = plan.submitted.time_since_epoch()});
  }
  return timeline_of(std::move(planned));
}

}  // namespace

TEST_CASE("JobScheduler: one worker takes jobs in the order of a naive sorted list") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    // Fewer than a kind needs to have its hints capped by what was learned.
    const std::vector<Plan> plans = random_plans(random, 60);
    const Timeline expected = naive(plans);
    REQUIRE(scheduled(plans) == expected);
  }
}

// ---- histories

namespace {

struct World {
  explicit World(std::uint64_t seed)
      : random(seed), scheduler({.seed = seed, .retained = 50, .dead_letters = 10}) {
    PoolOptions options;
    options.workers = 3;
    options.bounds.in_all = 20;
    options.overflow = static_cast<Overflow>(random.below(4));
    if (random.below(2) == 0) options.tenant_weights = {{"a", 3}, {"b", 1}};
    scheduler.add_pool("default", options);
    PoolOptions leased;
    leased.workers = 0;
    scheduler.add_pool("leased", leased);
    scheduler.add_semaphore("s", 2);
    scheduler.add_token_bucket("t", Rate(1), 3);
  }

  Executor executor{{.time = TimeMode::virtual_time}};
  Random random;
  JobScheduler scheduler;
  std::vector<JobHandle> handles;
  std::map<JobId, int> ends;
  std::size_t running = 0;
  std::size_t most_running = 0;
  std::size_t with_permit = 0;
  std::size_t most_with_permit = 0;
  std::vector<std::string> broken;
};

/// Counts itself in and out however it ends.
class Counted {
 public:
  Counted(std::size_t& count, std::size_t& most) : count_(count) { most = std::max(most, ++count_); }
  ~Counted() { --count_; }

 private:
  std::size_t& count_;
};

Task<JobOutcome> random_work(JobContext& context, World* world, bool with_permit) {
  const Counted running(world->running, world->most_running);
  std::size_t ignored = 0;
  const Counted permit(with_permit ? world->with_permit : ignored,
                       with_permit ? world->most_with_permit : ignored);
  co_await Sleep(Duration(1s) * static_cast<std::int64_t>(world->random.below(5)));
  switch (world->random.below(6)) {
    case 0:
      co_return JobOutcome::failure("failed");
    case 1:
    case 2:
      co_return JobOutcome::retryable("attempt " + std::to_string(context.attempt()));
    default:
      co_return JobOutcome::success();
  }
}

Job random_job(World& world) {
  Random& random = world.random;
  const bool permit = random.below(3) == 0;
  Job job(random_work, &world, permit);
  if (permit) job.resources.emplace_back("s", 1);
  if (random.below(6) == 0) job.resources.emplace_back("t", 1 + random.below(3));
  job.priority = static_cast<Priority>(random.below(4));
  if (random.below(2) == 0) job.deadline_in = Duration(1s) * static_cast<std::int64_t>(random.below(30));
  if (random.below(4) == 0) job.timeout = Duration(2s);
  if (random.below(8) == 0) {
    job.start = FixedStart{.at = now() + Duration(1s) * static_cast<std::int64_t>(random.below(10))};
    job.start->missed = static_cast<FixedStart::Missed>(random.below(3));
  }
  job.retry.max_attempts = static_cast<std::uint32_t>(1 + random.below(3));
  job.tenant = random.below(2) == 0 ? "a" : "b";
  for (std::size_t i = random.below(3); i > 0 && !world.handles.empty(); --i) {
    const JobHandle& parent = world.handles[random.below(world.handles.size())];
    if (world.scheduler.find(parent.id()))
      job.after.emplace_back(parent.id(), static_cast<Dependency::On>(random.below(3)));
  }
  if (random.below(10) == 0) job.pool = "leased";
  return job;
}

Task<> watch(World& world, JobHandle handle) {
  const JobResult result = co_await handle;
  ++world.ends[handle.id()];
  if (!is_ended(result.status)) world.broken.push_back("an end that is none");
}

Task<> act(World& world) {
  switch (world.random.below(12)) {
    case 0: {
      if (!world.handles.empty()) world.handles[world.random.below(world.handles.size())].cancel();
      break;
    }
    case 1: {
      std::optional<Lease> lease = co_await world.scheduler.lease("leased", 3s);
      if (lease && world.random.below(2) == 0)
        co_await world.scheduler.report(lease->id, lease->attempt, JobOutcome::retryable("lost"));
      break;
    }
    case 2:
      co_await Sleep(Duration(1s) * static_cast<std::int64_t>(world.random.below(4)));
      break;
    default: {
      Job job = random_job(world);
      const std::size_t waiting = world.scheduler.pools()[0].waiting;
      const bool refusing = job.pool == "default" && waiting >= 20;
      try {
        // What waits may wait for a lease that is not asked for meanwhile.
        std::optional<JobHandle> handle = co_await try_timeout(20s, world.scheduler.submit(std::move(job)));
        if (!handle) co_return;
        world.handles.push_back(*handle);
        submit(watch(world, std::move(*handle)));
      } catch (const JobRefused& refused) {
        if (refused.reason() == JobRefused::Reason::full && !refusing)
          world.broken.push_back("refused with room");
      }
    }
  }
}

Task<> live(World& world) {
  for (int i = 0; i < 400; ++i) {
    Task<> one = act(world);
    co_await std::move(one);
    const PoolState pool = world.scheduler.pools()[0];
    if (pool.running > pool.workers) world.broken.push_back("more attempts than workers");
    if (pool.waiting > 20 + pool.workers)
      world.broken.push_back("more wait than may");  // retries keep their place
  }
  co_await Sleep(300s);
  for (const JobHandle& handle : world.handles)
    if (!handle.ended()) world.scheduler.cancel(handle.id());
  co_await Sleep(100s);
}

}  // namespace

TEST_CASE("JobScheduler: every accepted job ends once, within the bounds, whatever happens") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    World world(seed);
    world.executor.submit(live(world));
    world.executor.run();
    REQUIRE(world.broken == std::vector<std::string>{});
    REQUIRE(world.ends.size() == world.handles.size());
    REQUIRE(
        std::all_of(world.ends.begin(), world.ends.end(), [](const auto& item) { return item.second == 1; }));
    REQUIRE(world.most_running <= 3);
    REQUIRE(world.most_with_permit <= 2);
  }
}
