#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/tests/executor/death.hpp>
#include <bide/tests/executor/timeline.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> takes(RateLimiter& limiter, std::uint64_t tokens, Timeline& timeline, const char* name) {
  co_await limiter.acquire(tokens);
  timeline.push_back(at_now(name));
}

}  // namespace

// Vector R4
TEST_CASE("RateLimiter: a rate of 2 a second with a burst of 3 that starts full") {
  Executor executor(virtual_time);
  RateLimiter limiter(2, 3);
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    for (int i = 0; i < 3; ++i) co_await takes(limiter, 1, timeline, "take");
    co_await SleepUntil(Instant(250ms));
    timeline.push_back(limiter.try_acquire() ? "too early" : "has half");
    co_await takes(limiter, 1, timeline, "take");
    co_await SleepUntil(Instant(10s));
    timeline.push_back("holds " + std::to_string(limiter.available()));
  });
  executor.run();
  CHECK(timeline == Timeline{"take@0", "take@0", "take@0", "has half", "take@500", "holds 3"});
}

TEST_CASE("RateLimiter: waiters go by class and as they came, a big one holds up the small ones behind it") {
  Executor executor(virtual_time);
  RateLimiter limiter(10, 5);
  Timeline timeline;
  executor.submit(takes(limiter, 5, timeline, "all"));
  executor.submit(takes(limiter, 4, timeline, "four"));
  executor.submit(takes(limiter, 1, timeline, "one"));
  executor.submit(takes(limiter, 2, timeline, "low"), {.priority = Priority::low});
  executor.submit({.priority = Priority::high}, [&]() -> Task<> {
    co_await Sleep(10ms);
    co_await takes(limiter, 1, timeline, "high");
  });
  executor.run();
  CHECK(timeline == Timeline{"all@0", "high@100", "four@500", "one@600", "low@800"});
}

TEST_CASE("RateLimiter: one timer, and one tick for each instant at which somebody is served") {
  Executor executor(virtual_time);
  RateLimiter limiter(1000, 1);
  Timeline timeline;
  for (int i = 0; i < 100; ++i) executor.submit(takes(limiter, 1, timeline, "x"));
  executor.run();
  CHECK(timeline.size() == 100);
  CHECK(timeline.back() == "x@99");
  CHECK(executor.ticks() == 99);
}

TEST_CASE("RateLimiter: the head is cancelled: the next has its turn when its own tokens are there") {
  Executor executor(virtual_time);
  RateLimiter limiter(10, 10);
  Timeline timeline;
  executor.submit(takes(limiter, 10, timeline, "all"));
  Handle<> big = executor.submit(takes(limiter, 10, timeline, "big"));
  executor.submit(takes(limiter, 3, timeline, "three"));
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(200ms);
    big.cancel();
  });
  executor.run();
  CHECK(timeline == Timeline{"all@0", "three@300"});
}

TEST_CASE("RateLimiter: the last waiter is cancelled: no timer is left behind") {
  Executor executor(virtual_time);
  RateLimiter limiter(Rate(1, 1h), 1);
  Timeline timeline;
  executor.submit(takes(limiter, 1, timeline, "first"));
  Handle<> second = executor.submit(takes(limiter, 1, timeline, "second"));
  executor.run_for(1s);
  second.cancel();
  executor.run();
  CHECK(executor.now() == Instant(1s));
}

TEST_CASE("RateLimiter: does not drift: a third of a nanosecond a token adds up exactly") {
  Executor executor(virtual_time);
  RateLimiter limiter(Rate(3, 7ns), 1);
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    for (int i = 0; i < 3001; ++i) co_await limiter.acquire();
  });
  executor.run();
  CHECK(executor.now() >= Instant(7000ns));  // the bucket of 1 loses what comes between two acquires
  CHECK(executor.now() <= Instant(9000ns));
}

TEST_CASE("RateLimiter: rates and bursts up to the largest number") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  Executor executor(virtual_time);
  RateLimiter fast(most, most);
  RateLimiter slow(Rate(1, Duration::max()), most);
  Timeline timeline;
  executor.submit(takes(fast, most, timeline, "fast"));
  executor.submit(takes(fast, most, timeline, "fast again"));
  executor.submit(takes(slow, most, timeline, "slow"));
  Handle<> never = executor.submit(takes(slow, most, timeline, "never"));
  executor.run_for(2s);
  CHECK(timeline == Timeline{"fast@0", "slow@0", "fast again@1000"});
  never.cancel();
  executor.run();
}

TEST_CASE("RateLimiter: more than the burst, or a rate of nothing, ends the process") {
  const auto too_much = bide::test::death_of([] {
    Executor executor(virtual_time);
    RateLimiter limiter(1, 3);
    executor.submit({}, [&]() -> Task<> { co_await limiter.acquire(4); });
    executor.run();
  });
  CHECK(too_much.aborted);
  CHECK_THAT(too_much.said, Catch::Contains("than its burst"));
  CHECK(bide::test::death_of([] { RateLimiter limiter(0, 3); }).aborted);
}

TEST_CASE("RateLimiter: goes first, or the executor does, with waiters") {
  Timeline timeline;
  const bool executor_goes_first = GENERATE(true, false);
  std::optional<Executor> executor(std::in_place, virtual_time);
  std::optional<RateLimiter> limiter(std::in_place, 1, 1);
  for (int i = 0; i < 3; ++i) executor->submit(takes(*limiter, 1, timeline, "x"));
  executor->run_for(1500ms);
  CHECK(timeline == Timeline{"x@0", "x@1000"});
  if (executor_goes_first) executor.reset();
  limiter.reset();
  executor.reset();
}

TEST_CASE("RateLimiter: at the last instants a token that comes in time is given, and a later one never") {
  Executor executor(virtual_time);
  RateLimiter limiter(Rate(1, 5ns), 2);
  Timeline timeline;
  const auto takes_both_by_name = [&](const char* name) -> Task<> {
    co_await SleepUntil(Instant::max() - 12ns);
    co_await limiter.acquire(2);
    timeline.push_back(name + std::string(" with ") +
                       std::to_string((Instant::max() - executor.now()).count()) + " ns left");
  };
  for (const char* name : {"a", "b", "c"}) executor.submit(takes_both_by_name(name));
  CHECK_THROWS_WITH(executor.run(), Catch::Contains("1 thread waits") &&
                                        Catch::Contains("thread 3 (normal) waits for 2 tokens"));
  CHECK(timeline == Timeline{"a with 12 ns left", "b with 2 ns left"});
  CHECK(limiter.waiters() == 1);
  executor.stop();
  executor.run();
  CHECK(limiter.waiters() == 0);
}

TEST_CASE("RateLimiter: the largest amounts and rates overflow nothing, from the first instant to the last") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Rate rate =
      GENERATE(Rate(1, Duration::max()), Rate(most, Duration::max()), Rate(most, 1ns), Rate(1, 1ns));
  Executor executor(virtual_time);
  RateLimiter limiter(rate, most);
  Timeline timeline;
  const auto takes_all_at = [&](Instant instant) -> Task<> {
    co_await SleepUntil(instant);
    co_await takes(limiter, most, timeline, "all");
    co_await limiter.acquire(most);
  };
  executor.submit(takes_all_at(Instant(0ns)));
  executor.submit(takes_all_at(Instant::max() - 1ns));
  executor.submit(takes_all_at(Instant::max()));
  try {
    executor.run();
  } catch (const Deadlock&) {
    executor.stop();
    executor.run();
  }
  CHECK(!timeline.empty());
  CHECK(limiter.waiters() == 0);
}
