#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/autoscaler.hpp>
#include <bide/tests/random.hpp>

using namespace bide;
using namespace std::chrono_literals;
using Rule = Autoscaler::Rule;

namespace {

constexpr Instant start{};

AutoscalerOptions options() {
  return {.min_workers = 0,
          .max_workers = 100,
          .interval = 1s,
          .target_utilisation = 1000,
          .drain_time = 10s,
          .stabilisation_window = 0s,
          .cooldown = 0s,
          .max_step_up_ratio = 0,
          .max_step_up = 100,
          .max_step_down = 100,
          .ewma_alpha = 1000};
}

PoolLoad queued(Priority priority, Duration work, Duration oldest = 0s) {
  PoolLoad load;
  load.queued_work[static_cast<std::size_t>(priority)] = work;
  load.oldest_wait[static_cast<std::size_t>(priority)] = oldest;
  return load;
}

/// What it says each second for these loads, the workers following its word.
std::vector<std::uint32_t> run(AutoscalerOptions options, std::vector<std::uint32_t> busy,
                               std::uint32_t workers = 0) {
  Autoscaler autoscaler(options);
  std::vector<std::uint32_t> said;
  Instant now = start;
  for (const std::uint32_t count : busy) {
    workers = autoscaler.decide({.workers = workers, .busy = count}, now).workers;
    said.push_back(workers);
    now += 1s;
  }
  return said;
}

using Counts = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("Autoscaler: a share below a hundredth of a worker is none, any other is rounded up") {
  CHECK(slots(9'900) == 0);
  CHECK(slots(10'000) == 1);
  CHECK(slots(500'000) == 1);
  CHECK(slots(1'000'000) == 1);
  CHECK(slots(1'000'100) == 2);
  CHECK(slots(-5) == 0);
  CHECK(slots(INT64_MAX) == UINT32_MAX);
}

TEST_CASE("Autoscaler: the mean moves by alpha to each sample") {
  CHECK(smoothed(10'000'000, 20'000'000, 500) == 15'000'000);
  CHECK(smoothed(15'000'000, 20'000'000, 500) == 17'500'000);
  AutoscalerOptions slow = options();
  slow.ewma_alpha = 500;
  CHECK(run(slow, {10, 20, 20}) == Counts{10, 15, 18});
}

TEST_CASE(
    "Autoscaler: wants so many that the busy ones are the target share, and nothing when idle for long") {
  AutoscalerOptions spare = options();
  spare.target_utilisation = 800;
  CHECK(run(spare, {8}) == Counts{10});
  AutoscalerOptions slow = options();
  slow.ewma_alpha = 300;
  const Counts said = run(slow, [] {
    Counts busy(60, 0);
    busy[0] = 50;
    return busy;
  }());
  CHECK(said[1] == 35);
  CHECK(said[23] == 1);
  CHECK(said[24] == 0);
}

TEST_CASE("Autoscaler: a backlog is to be gone within the drain time") {
  Autoscaler autoscaler(options());
  const auto decision = autoscaler.decide(queued(Priority::low, 95s), start);
  CHECK(decision.workers == 10);
  CHECK(decision.rule == Rule::backlog);
  CHECK(autoscaler.decide(queued(Priority::low, Duration::max()), start + 1s).rule == Rule::maximum);
}

TEST_CASE("Autoscaler: the goal of a class counts what goes before it, and the wait of its oldest") {
  AutoscalerOptions goals = options();
  goals.drain_time = 1h;
  goals.wait_goals[static_cast<std::size_t>(Priority::normal)] = 10s;
  PoolLoad load = queued(Priority::normal, 20s);
  CHECK(Autoscaler(goals).decide(load, start).workers == 2);
  CHECK(Autoscaler(goals).decide(load, start).rule == Rule::wait_goal);
  load.queued_work[static_cast<std::size_t>(Priority::high)] = 20s;
  load.queued_work[static_cast<std::size_t>(Priority::low)] = 1000s;
  CHECK(Autoscaler(goals).decide(load, start).workers == 4);
  load.oldest_wait[static_cast<std::size_t>(Priority::normal)] = 8s;
  CHECK(Autoscaler(goals).decide(load, start).workers == 20);
  load.oldest_wait[static_cast<std::size_t>(Priority::normal)] = 1h;
  CHECK(Autoscaler(goals).decide(load, start).workers == 40);
}

TEST_CASE("Autoscaler: workers for fixed starts come on top, all within the bounds") {
  AutoscalerOptions bounded = options();
  bounded.min_workers = 2;
  bounded.max_workers = 9;
  PoolLoad load;
  CHECK(Autoscaler(bounded).decide(load, start).rule == Rule::minimum);
  CHECK(Autoscaler(bounded).decide(load, start).workers == 2);
  load.busy = 3;
  load.reserved = 4;
  CHECK(Autoscaler(bounded).decide(load, start).workers == 7);
  CHECK(Autoscaler(bounded).decide(load, start).rule == Rule::reservation);
  load.busy = 30;
  CHECK(Autoscaler(bounded).decide(load, start).workers == 9);
  load.workers = 50;
  CHECK(Autoscaler(bounded).decide(load, start).workers == 9);
}

TEST_CASE("Autoscaler: a step up is the larger of the ratio and the number, a step down the number") {
  AutoscalerOptions steps = options();
  steps.max_step_up_ratio = 500;
  steps.max_step_up = 2;
  steps.max_step_down = 3;
  CHECK(run(steps, {40, 40, 40, 40, 40, 40, 40, 40}) == Counts{2, 4, 6, 9, 13, 19, 28, 40});
  CHECK(run(steps, {0, 0, 0, 0}, 8) == Counts{5, 2, 0, 0});
}

TEST_CASE("Autoscaler: goes down only to the highest wish of the window, and after the cooldown") {
  AutoscalerOptions window = options();
  window.stabilisation_window = 3s;
  CHECK(run(window, {5, 2, 3, 1, 1, 1, 1}) == Counts{5, 5, 5, 3, 3, 1, 1});
  AutoscalerOptions cooling = options();
  cooling.cooldown = 3s;
  CHECK(run(cooling, {5, 2, 2, 2, 1, 6, 1}) == Counts{5, 5, 5, 2, 2, 6, 6});
}

TEST_CASE("Autoscaler: is settled once time alone would change nothing") {
  AutoscalerOptions fading = options();
  fading.ewma_alpha = 500;
  fading.max_workers = 8;
  Autoscaler autoscaler(fading);
  CHECK_FALSE(autoscaler.decide({.workers = 0, .busy = 0, .queued_work = {1s}}, start).settled);
  CHECK_FALSE(autoscaler.decide({.workers = 1, .busy = 1}, start + 1s).settled);
  Instant now = start + 2s;
  std::uint32_t workers = 1;
  bool settled = false;
  for (; !settled && now < start + 60s; now += 1s) {
    const auto decision = autoscaler.decide({.workers = workers, .busy = 0}, now);
    workers = decision.workers;
    settled = decision.settled;
  }
  CHECK(settled);
  CHECK(workers == 0);
  CHECK(now < start + 15s);
  CHECK_FALSE(autoscaler.decide({.workers = 4, .busy = 4, .queued_work = {1s}}, now).settled);
  for (int n = 0; n < 20; ++n) autoscaler.decide({.workers = 8, .busy = 8, .queued_work = {1h}}, now += 1s);
  CHECK(autoscaler.decide({.workers = 8, .busy = 8, .queued_work = {1h}}, now + 1s).settled);
}

TEST_CASE("Autoscaler: says the same until it is due, and adds up what workers cost") {
  AutoscalerOptions paid = options();
  paid.interval = 10s;
  paid.cost_per_worker_second = 250'000;
  Autoscaler autoscaler(paid);
  CHECK(autoscaler.decide({.workers = 4, .busy = 4}, start).workers == 4);
  CHECK(autoscaler.due() == start + 10s);
  CHECK(autoscaler.decide({.workers = 4, .busy = 90}, start + 9s).workers == 4);
  CHECK(autoscaler.decide({.workers = 4, .busy = 90}, start + 10s).workers == 90);
  CHECK(autoscaler.cost() == 10'000'000);
  CHECK(autoscaler.decide({.workers = 90, .busy = 90}, Instant::max()).workers == 90);
}

TEST_CASE("Autoscaler: whatever it is told, it stays within bounds and steps") {
  test::Random random(17);
  for (int round = 0; round < 200; ++round) {
    AutoscalerOptions any;
    any.min_workers = static_cast<std::uint32_t>(random.below(5));
    any.max_workers = any.min_workers + static_cast<std::uint32_t>(random.below(50));
    any.max_step_down = 1 + static_cast<std::uint32_t>(random.below(4));
    any.wait_goals.fill(Duration(static_cast<std::int64_t>(random.below(20'000'000'000))));
    Autoscaler autoscaler(any);
    std::uint32_t workers = any.min_workers;
    bool kept = true;
    for (Instant now = start; now < start + 1000s; now += 5s) {
      PoolLoad load{.workers = workers, .busy = static_cast<std::uint32_t>(random.below(workers + 1))};
      for (Duration& work : load.queued_work)
        work = Duration(static_cast<std::int64_t>(random.next() >> (1 + random.below(60))));
      const std::uint32_t next = autoscaler.decide(load, now).workers;
      kept = kept && next >= any.min_workers && next <= any.max_workers &&
             next + any.max_step_down >= workers && next <= workers + std::max(workers, any.max_step_up);
      workers = next;
    }
    CHECK(kept);
  }
}
