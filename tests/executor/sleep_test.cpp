#include <catch2/catch.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/executor.hpp>

#include "../random.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Timeline;
using bide::test::virtual_time;
using Wakes = std::vector<std::pair<int, Instant>>;

Task<> sleeps(Wakes& wakes, int id, Duration duration) {
  co_await Sleep(duration);
  wakes.emplace_back(id, now());
}
Task<> sleeps_until(Wakes& wakes, int id, Instant instant) {
  co_await SleepUntil(instant);
  wakes.emplace_back(id, now());
}
Task<> yields(Timeline& timeline, std::string name) {
  timeline.push_back(name + "1");
  co_await Yield();
  timeline.push_back(name + "2");
}
Task<> sleeps_for(Timeline& timeline, std::string name, Duration duration) {
  timeline.push_back(name + "1");
  co_await Sleep(duration);
  timeline.push_back(name + "2");
}

TEST_CASE("Sleep: of zero and less is a Yield and costs no tick") {
  for (const Duration duration : {Duration(0), Duration(-1), Duration(-1s), Duration::min()}) {
    Timeline timeline;
    Executor executor(virtual_time);
    executor.submit(sleeps_for(timeline, "a", duration));
    executor.submit(yields(timeline, "b"));
    executor.submit(sleeps_for(timeline, "c", duration));
    executor.run();
    CHECK(timeline == Timeline{"a1", "b1", "c1", "a2", "b2", "c2"});
    CHECK(executor.ticks() == 0);
    CHECK(executor.now() == Instant());
  }
}

TEST_CASE("Sleep: SleepUntil an instant that has come is a Yield") {
  Wakes wakes;
  Executor executor(virtual_time);
  executor.run_until(Instant(5ms));
  executor.submit(sleeps_until(wakes, 1, Instant(5ms)));
  executor.submit(sleeps_until(wakes, 2, Instant(4ms)));
  executor.submit(sleeps_until(wakes, 3, Instant::min()));
  executor.submit(sleeps_until(wakes, 4, Instant(6ms)));
  executor.run();
  CHECK(wakes == Wakes{{1, Instant(5ms)}, {2, Instant(5ms)}, {3, Instant(5ms)}, {4, Instant(6ms)}});
  CHECK(executor.ticks() == 2);
}

Task<> makes_first_and_awaits_later(Wakes& wakes) {
  Sleep five(5ms);
  co_await Sleep(3ms);
  co_await five;
  wakes.emplace_back(1, now());
}

TEST_CASE("Sleep: counts from the call, not from the await") {
  Wakes wakes;
  Executor executor(virtual_time);
  executor.submit(makes_first_and_awaits_later(wakes));
  executor.run();
  CHECK(wakes == Wakes{{1, Instant(5ms)}});
}

TEST_CASE(
    "Sleep: ten thousand threads due at one instant wake in the order in which they fell asleep, in one "
    "tick") {
  constexpr int count = 10'000;
  test::Random random(20);
  Wakes wakes;
  Wakes expected;
  Executor executor(virtual_time);
  std::vector<Handle<>> handles;
  for (int id = 0; id < count; ++id)
    handles.push_back(executor.submit(sleeps_until(wakes, id, Instant(7ms))));
  executor.run_for(1ms);
  for (int id = 0; id < count; ++id) {
    if (random.below(4) == 0) {
      handles[static_cast<std::size_t>(id)].cancel();
    } else {
      expected.emplace_back(id, Instant(7ms));
    }
  }
  executor.run();
  CHECK(wakes == expected);
  CHECK(executor.ticks() == 2);
}

constexpr Duration longest = Duration::max();

// tokio #2667, #5183, #6634: far-future waits wrapped or aborted.
TEST_CASE("Sleep: waits near the end of time wake there, not before") {
  Wakes wakes;
  Executor executor(virtual_time);
  executor.submit(sleeps(wakes, 1, longest));
  executor.submit(sleeps(wakes, 2, longest - 1ns));
  executor.submit(sleeps(wakes, 3, longest / 2));
  executor.submit(sleeps(wakes, 4, longest / 10));
  executor.submit(sleeps_until(wakes, 5, Instant::max()));
  executor.submit(sleeps(wakes, 6, 1s));
  executor.run();
  CHECK(wakes == Wakes{{6, Instant(1s)},
                       {4, Instant(longest / 10)},
                       {3, Instant(longest / 2)},
                       {2, Instant(longest - 1ns)},
                       {1, Instant::max()},
                       {5, Instant::max()}});
  CHECK(executor.ticks() == 5);
}

TEST_CASE("Sleep: the sum with now saturates at the last instant") {
  Wakes wakes;
  Executor executor(virtual_time);
  executor.run_until(Instant(longest - 5ns));
  executor.submit(sleeps(wakes, 1, longest));
  executor.submit(sleeps(wakes, 2, 6ns));
  executor.submit(sleeps(wakes, 3, 5ns));
  executor.submit(sleeps(wakes, 4, 4ns));
  executor.submit(sleeps(wakes, 5, Duration::min()));
  executor.submit(sleeps_until(wakes, 6, Instant::max()));
  executor.run();
  CHECK(wakes == Wakes{{5, Instant(longest - 5ns)},
                       {4, Instant(longest - 1ns)},
                       {1, Instant::max()},
                       {2, Instant::max()},
                       {3, Instant::max()},
                       {6, Instant::max()}});
}

TEST_CASE("Sleep: one until the end of time can be cancelled") {
  for (const Instant start : {Instant(), Instant(longest - 5ns)}) {
    Wakes wakes;
    Executor executor(virtual_time);
    executor.run_until(start);
    std::vector<Handle<>> handles;
    int id = 0;
    for (const Duration duration : {longest, longest - 1ns, longest / 2, longest / 10}) {
      handles.push_back(executor.submit(sleeps(wakes, ++id, duration)));
    }
    executor.run_for(0ns);
    for (Handle<>& handle : handles) handle.cancel();
    CHECK(executor.run().now == start);
    CHECK(wakes.empty());
  }
}

Task<> cancels_and_submits(Wakes& wakes, Handle<> other) {
  co_await Sleep(5ms);
  wakes.emplace_back(1, now());
  other.cancel();
  submit(sleeps(wakes, 3, 3ms));
}

// seastar #3013: the last timer was cancelled while its own instant was being released, and a later one never
// fired.
TEST_CASE("Sleep: a thread woken in the same instant is cancelled, and a sleep that begins then ends") {
  Wakes wakes;
  Executor executor(virtual_time);
  // The child arms first, so its owner runs after it; the other way round it is cancelled before it runs.
  Handle<> other = executor.submit(sleeps(wakes, 2, 5ms), {.priority = Priority::low});
  executor.submit(cancels_and_submits(wakes, std::move(other)));
  executor.run();
  CHECK(wakes == Wakes{{1, Instant(5ms)}, {2, Instant(5ms)}, {3, Instant(8ms)}});
  CHECK(executor.ticks() == 2);
}

// Reads the given times, and then goes on in steps of a millisecond.
class ScriptedClock final : public Clock {
 public:
  explicit ScriptedClock(std::vector<Duration> readings) : readings_(std::move(readings)) {}
  Instant now() override {
    last_ = next_ < readings_.size() ? readings_[next_++] : last_ + 1ms;
    ++count;
    return Instant(last_);
  }
  int count = 0;

 private:
  std::vector<Duration> readings_;
  std::size_t next_ = 0;
  Duration last_{};
};

// tokio #4044: the program was aborted when the clock returned an earlier value than before.
TEST_CASE("Sleep: a clock that goes back moves neither now nor a sleeper") {
  Wakes wakes;
  ScriptedClock clock({10ms, 12ms, 11ms, 11ms, 13ms, 1ms, 14ms});
  Executor executor({.time = TimeMode::real_time, .clock = &clock});
  executor.submit(sleeps(wakes, 1, 2ms));
  executor.submit(sleeps(wakes, 2, 4ms));
  Instant before = executor.now();
  while (executor.run_one()) {
    const Instant after = executor.now();
    CHECK(after >= before);
    before = after;
  }
  REQUIRE(wakes.size() == 2);
  CHECK(wakes[0].first == 1);
  CHECK(wakes[1].first == 2);
  CHECK(wakes[0].second >= Instant(14ms));
  CHECK(wakes[1].second >= wakes[0].second);
}

TEST_CASE("Sleep: a clock that leaps ahead wakes each thread once, in the order of their instants") {
  Wakes wakes;
  ScriptedClock clock({0ms, 0ms, 0ms, 0ms, 0ms, 0ms, 0ms, 0ms, 3600s});
  Executor executor({.time = TimeMode::real_time, .clock = &clock});
  executor.submit(sleeps(wakes, 1, 3ms));
  executor.submit(sleeps(wakes, 2, 1ms));
  executor.submit(sleeps(wakes, 3, 2ms));
  executor.run();
  REQUIRE(wakes.size() == 3);
  CHECK(wakes[0].first == 2);
  CHECK(wakes[1].first == 3);
  CHECK(wakes[2].first == 1);
}

TEST_CASE("Sleep: the report tells how late timers fired") {
  Wakes wakes;
  ScriptedClock clock({0ms, 0ms, 0ms, 0ms, 0ms, 0ms, 0ms, 0ms, 3600s});
  Executor executor({.time = TimeMode::real_time, .clock = &clock});
  for (const int id : {1, 2, 3}) executor.submit(sleeps(wakes, id, id * 1ms));
  const LatenessReport lateness = executor.run().lateness;
  CHECK(lateness.count == 3);
  CHECK(lateness.p50 >= 3599s);
  CHECK(lateness.longest == 3600s - 1ms);
  CHECK(lateness.p99 == lateness.longest);
}

Task<> yields_until(const bool& woken, int& yields_count) {
  for (; !woken && yields_count < 1'000'000; ++yields_count) co_await Yield();
}
Task<> wakes_once(bool& woken) {
  co_await Sleep(5ms);
  woken = true;
}

// kotlinx.coroutines #4248, tokio #5223: threads that yield to each other kept the loop from looking outside.
TEST_CASE("Sleep: a sleeper gets its turn while others yield without end") {
  bool woken = false;
  int yield_count = 0;
  ScriptedClock clock({0ms});
  Executor executor({.time = TimeMode::real_time, .resumes_per_turn = 10, .clock = &clock});
  executor.submit(wakes_once(woken));
  executor.submit(yields_until(woken, yield_count));
  executor.submit(yields_until(woken, yield_count));
  executor.run();
  CHECK(woken);
  CHECK(yield_count <= 6 * 10);  // the clock goes on by a millisecond each time the loop looks at it
}

Task<> sleeps_at_random(int& early, std::uint64_t seed, int count) {
  test::Random random(seed);
  for (int i = 0; i < count; ++i) {
    const Instant due = now() + Duration(static_cast<std::int64_t>(random.below(200'000)));
    co_await SleepUntil(due);
    if (RealClock().now() < due) ++early;
  }
}

TEST_CASE("Sleep: in real time no sleep ends early") {
  int early = 0;
  Executor executor;
  for (std::uint64_t seed = 0; seed < 20; ++seed) executor.submit(sleeps_at_random(early, seed, 100));
  executor.run();
  CHECK(early == 0);
}

// glommio b873725: a duration was reinterpreted as negative on its way to the kernel.
TEST_CASE("Sleep: in real time extreme durations neither wake early nor keep others from waking") {
  Wakes wakes;
  Executor executor;
  Handle<> endless = executor.submit(sleeps(wakes, 1, longest));
  executor.submit(sleeps(wakes, 2, -1s));
  executor.submit(sleeps(wakes, 3, Duration::min()));
  executor.submit(sleeps(wakes, 4, 5ms));
  executor.run_for(20ms);
  REQUIRE(wakes.size() == 3);
  CHECK(wakes[0].first == 2);
  CHECK(wakes[1].first == 3);
  CHECK(wakes[2].first == 4);
  endless.cancel();
  executor.run();
  CHECK(wakes.size() == 3);
}

// CLOCK_MONOTONIC that counts its readings.
class CountingClock final : public Clock {
 public:
  Instant now() override {
    ++count;
    return RealClock().now();
  }
  int count = 0;
};

Task<> sleeps_in_turn(int count) {
  for (int i = 0; i < count; ++i) co_await Sleep(2ms);
}

// glommio 7b467c8: after a timer had fired the loop polled instead of sleeping.
TEST_CASE("Sleep: in real time the loop sleeps, it does not spin") {
  CountingClock clock;
  Executor executor({.clock = &clock});
  executor.submit(sleeps_in_turn(10));
  executor.run();
  CHECK(clock.count <= 10 * 10);
}

}  // namespace
