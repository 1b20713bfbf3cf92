#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/tests/executor/death.hpp>
#include <bide/tests/executor/timeline.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Timeline;
using bide::test::virtual_time;

}  // namespace

TEST_CASE("Latch: lets all through when it has been counted down, and for good") {
  Executor executor(virtual_time);
  Latch latch(3);
  Timeline timeline;
  const auto waits = [&](const char* name) -> Task<> {
    co_await latch.wait();
    timeline.push_back(at_now(name));
  };
  executor.submit(waits("a"));
  executor.submit(waits("b"));
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(1ms);
    latch.count_down();
    co_await Sleep(1ms);
    latch.count_down(2);
    co_await waits("late");
  });
  executor.run();
  CHECK(timeline == Timeline{"late@2", "a@2", "b@2"});
  CHECK(latch.try_wait());
}

TEST_CASE("Latch: arrive_and_wait counts once, also when the waiter is then cancelled") {
  Executor executor(virtual_time);
  Latch latch(2, "start");
  Timeline timeline;
  const auto arrives = [&](const char* name) -> Task<> {
    co_await latch.arrive_and_wait();
    timeline.push_back(name);
  };
  Handle<> first = executor.submit(arrives("first"));
  executor.run_for(1ms);
  CHECK(latch.count() == 1);
  CHECK(executor.report().unfinished.at(0).state == "waits for latch \"start\" with 1 to go");
  first.cancel();
  executor.run_for(1ms);
  CHECK(latch.count() == 1);
  executor.submit(arrives("second"));
  executor.run();
  CHECK(timeline == Timeline{"second"});
}

TEST_CASE("Latch: of none is open; counted below 0 it ends the process") {
  Latch latch(0);
  CHECK(latch.try_wait());
  const auto death = bide::test::death_of([] { Latch(1).count_down(2); });
  CHECK(death.aborted);
  CHECK_THAT(death.said, Catch::Contains("below 0"));
}
