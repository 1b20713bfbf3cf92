#include <catch2/catch.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "gate.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::AtExit;
using bide::test::Gate;
using bide::test::Timeline;
using bide::test::virtual_time;

enum class Kind { sleep, sleep_zero, sleep_until, yield, gate, open_gate, join, join_ended };
constexpr Kind kinds[] = {Kind::sleep, Kind::sleep_zero, Kind::sleep_until, Kind::yield,
                          Kind::gate,  Kind::open_gate,  Kind::join,        Kind::join_ended};

Task<> nothing() { co_return; }
Task<> sleeps(Duration duration) { co_await Sleep(duration); }

struct Waits {
  Gate gate;
  Gate open_gate;
  std::optional<Handle<>> alive;
  std::optional<Handle<>> ended;

  explicit Waits(Executor& executor) {
    open_gate.open();
    alive = executor.submit(sleeps(1h), {.name = "alive"});
    ended = executor.submit(nothing(), {.priority = Priority::critical});
    executor.run_one();
  }
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;
};

Task<> wait(Kind kind, Waits& waits) {
  switch (kind) {
    case Kind::sleep:
      co_await Sleep(1h);
      break;
    case Kind::sleep_zero:
      co_await Sleep(0s);
      break;
    case Kind::sleep_until:
      co_await SleepUntil(Instant(1h));
      break;
    case Kind::yield:
      co_await Yield();
      break;
    case Kind::gate:
      co_await waits.gate.pass();
      break;
    case Kind::open_gate:
      co_await waits.open_gate.pass();
      break;
    case Kind::join:
      co_await *waits.alive;
      break;
    case Kind::join_ended:
      co_await *waits.ended;
      break;
  }
}
Task<> tells_how_it_went(Kind kind, Waits& waits, Timeline& timeline) {
  bool cancelled = false;
  try {
    co_await wait(kind, waits);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  timeline.push_back(at_now(cancelled ? "cancelled" : "passed"));
}
Task<> is_cancelled_while_running(Kind kind, Waits& waits, Timeline& timeline, std::optional<Handle<>>& own) {
  own->cancel();
  for (int i = 0; i < 2; ++i) co_await tells_how_it_went(kind, waits, timeline);
}

// tokio #7462, asio #1574: what was ready at once ran on although it was cancelled.
TEST_CASE("Cancel: every wait that is entered cancelled throws, each time, and touches nothing") {
  for (const Kind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    Timeline timeline;
    std::optional<Handle<>> own;
    Executor executor(virtual_time);
    Waits waits(executor);
    own = executor.submit(is_cancelled_while_running(kind, waits, timeline, own));
    executor.run_for(0s);
    CHECK(timeline == Timeline{"cancelled@0", "cancelled@0"});
    CHECK(waits.gate.waiting_count() == 0);
    CHECK(waits.gate.withdrawn == 0);
    CHECK_FALSE(waits.alive->done());
    waits.ended->take();  // still there
  }
}

TEST_CASE("Cancel: a thread that waits is taken out of its wait, at once and once") {
  for (const Kind kind : {Kind::sleep, Kind::sleep_until, Kind::gate, Kind::join}) {
    CAPTURE(static_cast<int>(kind));
    Timeline timeline;
    Executor executor(virtual_time);
    Waits waits(executor);
    Handle<> handle = executor.submit(tells_how_it_went(kind, waits, timeline));
    executor.run_for(5ms);
    CHECK(timeline.empty());
    handle.cancel();
    handle.cancel();
    CHECK(timeline.empty());  // a plain call: the thread runs in its turn
    CHECK(waits.gate.waiting_count() == 0);
    CHECK(waits.gate.withdrawn == (kind == Kind::gate ? 1 : 0));
    executor.run_for(0s);
    CHECK(timeline == Timeline{"cancelled@5"});
    handle.cancel();
    CHECK(handle.done());
    handle.take();          // it caught the cancel, and ended well
    waits.gate.open();      // nobody is left in it
    waits.alive->cancel();  // nor waits for this one
    CHECK(executor.run().now == Instant(5ms));
  }
}

Task<> passes_and_waits_again(Gate& gate, Timeline& timeline) {
  co_await gate.pass();
  timeline.push_back("passed");
  const AtExit at_exit([&timeline] { timeline.push_back("cleaned up"); });
  co_await Yield();
  timeline.push_back("not reached");
}
Task<> opens_and_cancels(Gate& gate, Handle<>& handle, bool opens_first) {
  if (opens_first) gate.open();
  handle.cancel();
  if (!opens_first) gate.open();
  co_return;
}

TEST_CASE(
    "Cancel: a wait that has succeeded says so, and the next one throws; the other way round it never "
    "passed") {
  for (const bool opens_first : {true, false}) {
    Timeline timeline;
    Gate gate;
    Executor executor(virtual_time);
    Handle<> handle = executor.submit(passes_and_waits_again(gate, timeline));
    executor.submit(opens_and_cancels(gate, handle, opens_first));
    executor.run();
    CHECK(timeline == (opens_first ? Timeline{"passed", "cleaned up"} : Timeline{}));
    CHECK_THROWS_AS(handle.take(), Cancelled);
  }
}

Task<> sleeps_twice(Timeline& timeline) {
  co_await Sleep(5ms);
  timeline.push_back(at_now("first"));
  co_await Sleep(10ms);
  timeline.push_back(at_now("second"));
}
Task<> cancels_at(Handle<>& handle, Duration duration) {
  co_await Sleep(duration);
  handle.cancel();
}

// golang/go #14038, cpython #86296: cancel and expiry in one instant.
TEST_CASE("Cancel: in the instant of the wake-up it shows at the next wait, whoever runs first") {
  for (const bool canceller_first : {true, false}) {
    Timeline timeline;
    std::optional<Handle<>> handle;
    Executor executor(virtual_time);
    if (canceller_first) {
      executor.submit({}, [&handle]() -> Task<> {
        co_await Sleep(5ms);
        handle->cancel();
      });
    }
    handle = executor.submit(sleeps_twice(timeline));
    if (!canceller_first) executor.submit(cancels_at(*handle, 5ms));
    executor.run();
    CHECK(timeline == Timeline{"first@5"});
    CHECK_THROWS_AS(handle->take(), Cancelled);
    CHECK(executor.now() == Instant(5ms));  // no timer of the second sleep is left
  }
}

Task<int> returns_a_value(Duration duration) {
  co_await Sleep(duration);
  co_return 3;
}
Task<> joins_and_waits(Handle<int> handle, Timeline& timeline) {
  const int value = co_await handle;
  timeline.push_back(at_now("got " + std::to_string(value)));
  co_await Yield();
  timeline.push_back("not reached");
}

TEST_CASE("Cancel: a joined value that has arrived is delivered, and the cancel not lost") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<int> child = executor.submit(returns_a_value(5ms));
  Handle<> parent = executor.submit(joins_and_waits(std::move(child), timeline), {.priority = Priority::low});
  executor.submit(cancels_at(parent, 5ms));  // runs after the child has ended, before the parent goes on
  executor.run();
  CHECK(timeline == Timeline{"got 3@5"});
  CHECK_THROWS_AS(parent.take(), Cancelled);
}

Task<> joins(Handle<int>& handle) { co_await handle; }

TEST_CASE("Cancel: of a thread that joins leaves the joined one running and its Handle good") {
  Executor executor(virtual_time);
  Handle<int> child = executor.submit(returns_a_value(5ms));
  Handle<> first = executor.submit(joins(child));
  executor.run_for(1ms);
  first.cancel();
  executor.run_for(1ms);
  CHECK_THROWS_AS(first.take(), Cancelled);
  Handle<> second = executor.submit(joins(child));
  executor.run();
  second.take();
  CHECK(executor.now() == Instant(5ms));
}

Task<> begins(Timeline& timeline) {
  timeline.push_back("begins");
  co_await Sleep(1ms);
  timeline.push_back("not reached");
}

TEST_CASE("Cancel: before its first turn a thread still begins, and its first wait throws") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(begins(timeline));
  handle.cancel();
  handle.cancel();
  executor.run();
  CHECK(timeline == Timeline{"begins"});
  CHECK_THROWS_AS(handle.take(), Cancelled);
}

Task<> swallows_exceptions(Timeline& timeline) {
  try {
    co_await Sleep(1h);
  } catch (const std::exception&) {
    timeline.push_back("swallowed");
  }
  timeline.push_back("not reached");
}

TEST_CASE("Cancel: a catch of std::exception does not swallow it") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(swallows_exceptions(timeline));
  executor.run_for(1ms);
  handle.cancel();
  executor.run();
  CHECK(timeline.empty());
  CHECK_THROWS_AS(handle.take(), Cancelled);
}

Task<> three_deep(Timeline& timeline, int depth) {
  const AtExit at_exit([&timeline, depth] { timeline.push_back(at_now("leave " + std::to_string(depth))); });
  if (depth < 3) {
    co_await three_deep(timeline, depth + 1);
  } else {
    co_await Sleep(1h);
  }
}

TEST_CASE("Cancel: unwinds the awaiting frames from the innermost outwards") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(three_deep(timeline, 1));
  executor.run_for(2ms);
  handle.cancel();
  executor.run();
  CHECK(timeline == Timeline{"leave 3@2", "leave 2@2", "leave 1@2"});
}

Task<> stops_all(Timeline& timeline) {
  co_await Sleep(2ms);
  Executor::current().stop();
  Executor::current().stop();
  bool refused = false;
  try {
    submit(nothing());
  } catch (const QueueFull&) {
    refused = true;
  }
  timeline.push_back(refused ? "refused" : "admitted");
  Task<> task = nothing();
  timeline.push_back(Executor::current().try_submit(task) ? "admitted" : "refused");
  co_await Yield();
  timeline.push_back("not reached");
}

TEST_CASE("Cancel: stop cancels every thread, refuses submits until the run has ended, and the run returns") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> sleeper = executor.submit(three_deep(timeline, 2));
  executor.submit(stops_all(timeline));
  const RunReport report = executor.run();
  CHECK(timeline == Timeline{"refused", "refused", "leave 3@2", "leave 2@2"});
  CHECK(report.unfinished.empty());
  CHECK(report.errors.empty());
  CHECK_THROWS_AS(sleeper.take(), Cancelled);
  executor.submit(nothing());
  CHECK(executor.run().now == Instant(2ms));
}

TEST_CASE("Cancel: stop from outside of the run drains in the next one; without threads it does nothing") {
  Executor executor(virtual_time);
  executor.stop();
  Handle<> handle = executor.submit(sleeps(1h));
  executor.run_for(1ms);
  executor.stop();
  CHECK_THROWS_AS(executor.submit(nothing()), QueueFull);
  CHECK(executor.run().now == Instant(1ms));
  CHECK_THROWS_AS(handle.take(), Cancelled);
  executor.submit(nothing());
  executor.run();
}

}  // namespace
