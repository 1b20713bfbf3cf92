#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/tests/sanitizer.hpp>

#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Counted;
using bide::test::Timeline;

constexpr ExecutorOptions room_for(std::size_t capacity) {
  return {.time = TimeMode::virtual_time, .capacity = capacity};
}

Task<> sleeper() { co_await Sleep(1ms); }
Task<> holds(Counted) { co_await Sleep(1ms); }

TEST_CASE("Capacity: exactly that many threads live, and the next submit is refused at any priority") {
  Executor executor(room_for(3));
  CHECK(executor.capacity() == 3);
  for (int i = 0; i < 3; ++i) executor.submit(sleeper());
  CHECK_THROWS_AS(executor.submit(sleeper()), QueueFull);
  CHECK_THROWS_AS(executor.submit(sleeper(), {.priority = Priority::critical}), QueueFull);
  CHECK_THROWS_WITH(executor.submit(sleeper()), Catch::Contains("3 threads are alive"));
  CHECK(executor.size() == 3);
  executor.run();
  CHECK(executor.submit(sleeper()).id() == 4);  // a refused submit takes no id
}

TEST_CASE("Capacity: a refused submit changes nothing but that its task is gone") {
  int alive = 0;
  Executor executor(room_for(1));
  Handle<> first = executor.submit(holds(Counted(alive)));
  const RunReport before = executor.report();
  CHECK_THROWS_AS(executor.submit(holds(Counted(alive))), QueueFull);
  CHECK(alive == 1);
  const RunReport after = executor.report();
  CHECK(after.unfinished.size() == before.unfinished.size());
  CHECK(executor.run().resumes == 2);
  CHECK(first.done());
}

TEST_CASE("Capacity: of none refuses all") {
  Executor executor(room_for(0));
  CHECK_THROWS_AS(executor.submit(sleeper()), QueueFull);
  CHECK(executor.run().resumes == 0);
}

TEST_CASE("Capacity: try_submit leaves a refused task with the caller, to be submitted later") {
  int alive = 0;
  Executor executor(room_for(1));
  Task<> first = holds(Counted(alive));
  Task<> second = holds(Counted(alive));
  CHECK(executor.try_submit(first).has_value());
  CHECK_FALSE(executor.try_submit(second).has_value());
  CHECK_FALSE(executor.try_submit(second, {.name = "again"}).has_value());
  CHECK(alive == 2);
  executor.run();
  CHECK(alive == 1);
  std::optional<Handle<>> handle = executor.try_submit(second);
  REQUIRE(handle.has_value());
  CHECK(handle->id() == 2);
  executor.run();
  CHECK(alive == 0);
}

Task<> fills_up(Timeline& timeline) {
  for (int i = 0; i < 4; ++i) {
    bool refused = false;
    try {
      submit(sleeper());
    } catch (const QueueFull&) {
      refused = true;
    }
    timeline.push_back(refused ? "refused" : "admitted");
  }
  co_await Sleep(2ms);
  timeline.push_back(std::to_string(Executor::current().size()) + " alive");
  submit(sleeper());
  timeline.push_back("admitted");
}

TEST_CASE("Capacity: counts the submitting thread, and has room again when threads have ended") {
  Timeline timeline;
  Executor executor(room_for(3));
  executor.submit(fills_up(timeline));
  executor.run();
  CHECK(timeline == Timeline{"admitted", "admitted", "refused", "refused", "1 alive", "admitted"});
}

Task<> refuses_to_be_lost(Timeline& timeline) {
  submit(sleeper());  // the second of two: its QueueFull leaves this thread, and then the run
  timeline.push_back("not reached");
  co_return;
}

TEST_CASE("Capacity: a QueueFull that nobody catches leaves run") {
  Timeline timeline;
  Executor executor(room_for(1));
  executor.submit(refuses_to_be_lost(timeline));
  CHECK_THROWS_AS(executor.run(), QueueFull);
  CHECK(timeline.empty());
}

Task<> yields_and_sleeps(int& turns) {
  for (int i = 0; i < 10; ++i) {
    co_await Yield();
    co_await Sleep(1ms);
    ++turns;
  }
}

TEST_CASE("Capacity: a wake-up is never refused, its place was paid for at the submit") {
  int turns = 0;
  Executor executor(room_for(100));
  for (int i = 0; i < 100; ++i) executor.submit(yields_and_sleeps(turns));
  executor.run();
  CHECK(turns == 1000);
  CHECK(executor.now() == Instant(10ms));
}

constexpr int crowd = test::sanitized ? 100'000 : 1'000'000;

TEST_CASE("Capacity: a crowd of threads is alive at once, and all of them end") {
  int alive = 0;
  Executor executor(test::virtual_time);
  for (int i = 0; i < crowd; ++i) executor.submit(holds(Counted(alive)));
  executor.run_for(0ms);
  CHECK(executor.size() == crowd);
  CHECK(alive == crowd);
  CHECK(executor.ticks() == 0);
  executor.run_for(1ms);
  CHECK(executor.size() == 0);
  CHECK(alive == 0);
  CHECK(executor.ticks() == 1);
}

TEST_CASE("Capacity: a crowd of sleeping threads is destroyed with their executor") {
  int alive = 0;
  {
    Executor executor(test::virtual_time);
    for (int i = 0; i < crowd; ++i) executor.submit(holds(Counted(alive)));
    executor.run_for(0ms);
    CHECK(alive == crowd);
  }
  CHECK(alive == 0);
}

}  // namespace
