#include <catch2/catch.hpp>

#include <optional>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/tests/executor/death.hpp>
#include <bide/tests/executor/timeline.hpp>
#include <bide/tests/sync/told.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::tells_at_next_wait;
using bide::test::tells_end;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> waits(Event& event, Timeline& timeline, const char* name) {
  co_await event.wait();
  timeline.push_back(at_now(name));
}

}  // namespace

TEST_CASE("Event: set lets all waiters through, by class and as they came, and those that come later") {
  Executor executor(virtual_time);
  Event event;
  Timeline timeline;
  executor.submit(waits(event, timeline, "a"));
  executor.submit(waits(event, timeline, "low"), {.priority = Priority::low});
  executor.submit(waits(event, timeline, "b"));
  executor.submit(waits(event, timeline, "high"), {.priority = Priority::high});
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(5ms);
    event.set();
    event.set();
    timeline.push_back("set");
    co_await waits(event, timeline, "late");
  });
  executor.run();
  CHECK(timeline == Timeline{"set", "late@5", "high@5", "a@5", "b@5", "low@5"});
}

TEST_CASE("Event: a reset before the waiters run does not hold them back, only those that come later") {
  Executor executor(virtual_time);
  Event event;
  Timeline timeline;
  executor.submit(waits(event, timeline, "a"));
  executor.run_for(1ms);
  event.set();
  event.reset();
  executor.submit(waits(event, timeline, "b"));
  executor.run_for(1ms);
  CHECK(timeline == Timeline{"a@1"});
  CHECK(event.waiters() == 1);
  executor.post([&] { event.set(); });
  executor.run();
  CHECK(timeline == Timeline{"a@1", "b@2"});
}

TEST_CASE("Event: set and cancel in one turn: the wait has succeeded in one order, and failed in the other") {
  const bool sets_first = GENERATE(true, false);
  Executor executor(virtual_time);
  Event event;
  Timeline timeline;
  Handle<> waiter = executor.submit({}, [&]() -> Task<> {
    co_await tells_end(timeline, "event", [&] { return event.wait(); });
    co_await tells_at_next_wait(timeline);
  });
  executor.run_for(1ms);
  if (sets_first) {
    event.set();
    waiter.cancel();
  } else {
    waiter.cancel();
    event.set();
  }
  executor.run();
  CHECK(timeline ==
        (sets_first ? Timeline{"event@1", "next wait cancelled@1"} : Timeline{"event cancelled@1"}));
}

TEST_CASE("Event: destroyed with a waiter in a run it ends the process, after a Deadlock it does not") {
  Executor executor(virtual_time);
  Timeline timeline;
  Event never("never");
  executor.submit(waits(never, timeline, "no"));
  CHECK_THROWS_WITH(executor.run(), Catch::Contains("waits for event \"never\""));

  const auto death = bide::test::death_of([] {
    Executor inner(virtual_time);
    Timeline unused;
    std::optional<Event> event(std::in_place);
    inner.submit(waits(*event, unused, "no"));
    inner.post([&] { event.reset(); });
    inner.run();
  });
  CHECK(death.aborted);
  CHECK_THAT(death.said, Catch::Contains("destroyed while threads wait"));
}
