#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> takes_turns(Timeline& timeline, std::string name, int turns) {
  for (int i = 0; i < turns; ++i) {
    timeline.push_back(name);
    co_await Yield();
  }
}
Task<> joins(Timeline& timeline, std::string name, Handle<>& handle) {
  timeline.push_back(name);
  co_await handle;
  timeline.push_back(name + " joined");
}

TEST_CASE("Inheritance: a joined thread runs at the class of the thread that waits for it, until it ends") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> low = executor.submit(takes_turns(timeline, "low", 3), {.priority = Priority::low});
  executor.submit(takes_turns(timeline, "normal", 2));
  executor.submit(joins(timeline, "high", low), {.priority = Priority::high});
  executor.run();
  CHECK(timeline == Timeline{"high", "low", "low", "low", "high joined", "normal", "normal"});
}

TEST_CASE("Inheritance: passes along a chain of joins") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> low = executor.submit(takes_turns(timeline, "low", 2), {.priority = Priority::low});
  Handle<> middle = executor.submit(joins(timeline, "middle", low), {.priority = Priority::low});
  executor.run_one();
  executor.run_one();
  executor.submit(takes_turns(timeline, "normal", 1));
  executor.submit(joins(timeline, "critical", middle), {.priority = Priority::critical});
  executor.run();
  CHECK(timeline ==
        Timeline{"low", "middle", "critical", "low", "middle joined", "critical joined", "normal"});
}

TEST_CASE("Inheritance: a cancelled join gives the class back") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> low = executor.submit(takes_turns(timeline, "low", 2), {.priority = Priority::low});
  Handle<> high = executor.submit(joins(timeline, "high", low), {.priority = Priority::high});
  executor.submit(takes_turns(timeline, "normal", 2));
  executor.run_one();
  executor.run_one();
  high.cancel();
  executor.run();
  CHECK(timeline == Timeline{"high", "low", "normal", "normal", "low"});
}

TEST_CASE("Inheritance: a dropped Handle gives the class back, and leaves its joiner waiting") {
  Timeline timeline;
  Executor executor(virtual_time);
  std::optional<Handle<>> low = executor.submit(takes_turns(timeline, "low", 2), {.priority = Priority::low});
  executor.submit(joins(timeline, "high", *low), {.priority = Priority::high});
  executor.submit(takes_turns(timeline, "normal", 1));
  executor.run_one();
  executor.run_one();
  low.reset();
  CHECK_THROWS_WITH(executor.run(), Catch::Contains("waits for a thread whose Handle is gone"));
  CHECK(timeline == Timeline{"high", "low", "normal", "low"});
}

TEST_CASE("Inheritance: joins the deadline too") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> plain = executor.submit(takes_turns(timeline, "plain", 2), {.priority = Priority::low});
  executor.submit(joins(timeline, "urgent", plain), {.priority = Priority::low, .deadline = Instant(500ms)});
  executor.submit(takes_turns(timeline, "high", 1), {.priority = Priority::high});
  executor.run();
  CHECK(timeline == Timeline{"urgent", "plain", "plain", "urgent joined", "high"});
}

}  // namespace
