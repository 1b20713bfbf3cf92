#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "../executor/gate.hpp"
#include "../executor/timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::AtExit;
using bide::test::Gate;
using bide::test::result_of;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<int> gives(int value, Duration after) {
  co_await Sleep(after);
  co_return value;
}
Task<int> at_once(int value) { co_return value; }
Task<> nothing() { co_return; }

Task<Timeline> limits(Duration limit, Duration work) {
  Timeline timeline;
  try {
    const int value = co_await timeout(limit, gives(7, work));
    timeline.push_back(at_now(std::to_string(value)));
  } catch (const TimedOut&) {
    timeline.push_back(at_now("timed out"));
  }
  co_await Sleep(1ms);  // outside of the limit again
  timeline.push_back(at_now("went on"));
  co_return timeline;
}

TEST_CASE("timeout: gives the result of what ends in time, and throws TimedOut for the rest") {
  CHECK(result_of(limits(5ms, 3ms)) == Timeline{"7@3", "went on@4"});
  CHECK(result_of(limits(3ms, 5ms)) == Timeline{"timed out@3", "went on@4"});
}

TEST_CASE("timeout: of limit and sleep at one instant, the limit was armed first") {
  CHECK(result_of(limits(5ms, 5ms)) == Timeline{"timed out@5", "went on@6"});
}

Task<Timeline> second_sleep_ends_with_the_limit() {
  Timeline timeline;
  const std::optional<int> value = co_await try_timeout(5ms, gives(1, 5ms));
  timeline.push_back(at_now(value ? "value" : "no value"));
  Handle<int> earlier = submit(gives(2, 5ms));  // its sleep begins after the limit does, and ends with it
  const std::optional<int> joined = co_await try_timeout(5ms, earlier);
  timeline.push_back(at_now(joined ? "value" : "no value"));
  timeline.push_back(std::to_string(co_await earlier));
  co_return timeline;
}

TEST_CASE(
    "timeout: a limit keeps its place in the order from the await on, though it is armed at the suspension") {
  CHECK(result_of(second_sleep_ends_with_the_limit()) == Timeline{"no value@5", "no value@10", "2"});
}

Task<> does_not_wait_at_first() {
  co_await timeout(1h, at_once(1));
  co_await timeout(1h, timeout(1h, at_once(1)));
  co_await Sleep(1h);
}
Task<Timeline> limits_what_has_limits() {
  Timeline timeline;
  try {
    co_await timeout(3ms, timeout(2ms, does_not_wait_at_first()));
  } catch (const TimedOut& error) {
    timeline.push_back(at_now(std::string(error.what()).substr(0, 20)));
  }
  co_return timeline;
}

TEST_CASE("timeout: limits that were entered and left without a wait take none of those around with them") {
  CHECK(result_of(limits_what_has_limits()) == Timeline{"timed out after 2 ms@2"});
}

Task<std::string> text_of(Duration limit) {
  std::string text;
  try {
    co_await timeout(limit, Sleep(1h));
  } catch (const TimedOut& error) {
    text = error.what();
    text += "|" + std::to_string(error.where().line());
  }
  co_return text;
}

TEST_CASE("timeout: TimedOut says how long and which line") {
  const std::string text = result_of(text_of(1500ms));
  CHECK(text.find("timed out after 1.5 s at ") == 0);
  const std::string line = text.substr(text.find('|') + 1);
  CHECK(text.find("timeout_test.cpp:" + line + "|") != std::string::npos);
}

Task<Timeline> without_time(Duration limit) {
  Timeline timeline;
  timeline.push_back(std::to_string(co_await timeout(limit, at_once(3))));
  try {
    co_await timeout(limit, Yield());
  } catch (const TimedOut&) {
    timeline.push_back(at_now("timed out"));
  }
  co_return timeline;
}

TEST_CASE("timeout: with no time at all what waits is cancelled, and what does not has its result") {
  for (const Duration limit : {Duration(0), Duration(-1), Duration::min()}) {
    CHECK(result_of(without_time(limit)) == Timeline{"3", "timed out@0"});
  }
}

Task<Timeline> limits_saturate() {
  co_await Sleep(5ms);
  Timeline timeline;
  for (const Duration limit : {Duration::max(), Duration::max() - 1ns, Duration::max() / 2}) {
    timeline.push_back(std::to_string(co_await timeout(limit, gives(1, 1ms))));
  }
  try {
    co_await timeout(Duration::max(), Sleep(Duration::max()));
  } catch (const TimedOut&) {
    timeline.push_back(now() == Instant::max() ? "at the last instant" : "too early");
  }
  co_return timeline;
}

TEST_CASE("timeout: now + limit saturates") {
  CHECK(result_of(limits_saturate()) == Timeline{"1", "1", "1", "at the last instant"});
}

Task<> cancels(std::optional<Handle<>>& handle, Duration after) {
  co_await Sleep(after);
  handle->cancel();
}
Task<> is_cancelled_when_its_child_ends(Timeline& timeline) {
  const int value = co_await timeout(1s, gives(7, 5ms));
  timeline.push_back(at_now(std::to_string(value)));
  try {
    co_await Sleep(10ms);
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
  }
}

// C1: cpython #86296, a timeout swallowed the caller's cancel.
TEST_CASE(
    "timeout: a cancel in the turn in which the child ends shows at the next wait, and the value is given") {
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
    handle = executor.submit(is_cancelled_when_its_child_ends(timeline));
    if (!canceller_first) executor.submit(cancels(handle, 5ms));
    executor.run();
    CHECK(timeline == Timeline{"7@5", "cancelled@5"});
  }
}

Task<> cleans_up_slowly(Timeline& timeline) {
  const AtExit guard([&timeline] { timeline.push_back(at_now("guard gone")); });
  bool cancelled = false;
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  if (cancelled) co_await shielded(Sleep(3ms));
  co_await Yield();
}
Task<> waits_for_the_clean_up(Timeline& timeline) {
  try {
    co_await timeout(5ms, cleans_up_slowly(timeline));
  } catch (const TimedOut&) {
    timeline.push_back(at_now("timed out"));
  }
}

// C2: cpython PR #7216, a timeout returned while the work was still cleaning up.
TEST_CASE("timeout: TimedOut arrives when the work has cleaned up") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(waits_for_the_clean_up(timeline));
  executor.run();
  CHECK(timeline == Timeline{"guard gone@8", "timed out@8"});
}

Task<> fails_when_cancelled() {
  bool cancelled = false;
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  if (cancelled) throw std::runtime_error("while cleaning up");
}
Task<std::string> error_of_the_clean_up() {
  std::string text;
  try {
    co_await timeout(5ms, fails_when_cancelled());
  } catch (const std::exception& error) {
    text = error.what();
  }
  co_return text;
}

TEST_CASE("timeout: an error of the clean-up is thrown in place of TimedOut") {
  CHECK(result_of(error_of_the_clean_up()) == "while cleaning up");
}

Task<int> swallows_the_cancel() {
  try {
    co_await Sleep(1h);
  } catch (...) {
  }
  co_return 9;
}
Task<int> result_in_spite_of_the_limit() { co_return co_await timeout(5ms, swallows_the_cancel()); }

TEST_CASE("timeout: a result counts, also when the work made it after the time was up") {
  CHECK(result_of(result_in_spite_of_the_limit()) == 9);
}

Task<Timeline> which_limit(Duration outer, Duration inner) {
  Timeline timeline;
  try {
    co_await timeout(outer, timeout(inner, Sleep(1h)));
  } catch (const TimedOut& error) {
    timeline.push_back(std::string(error.what()).substr(0, 20));
  }
  timeline.push_back(at_now("out"));
  co_await Yield();
  co_return timeline;
}

TEST_CASE("timeout: of nested limits the one that is up reports; of two at one instant the outer one") {
  CHECK(result_of(which_limit(5ms, 3ms)) == Timeline{"timed out after 3 ms", "out@3"});
  CHECK(result_of(which_limit(3ms, 5ms)) == Timeline{"timed out after 3 ms", "out@3"});
  CHECK(result_of(which_limit(5ms, 5ms)) == Timeline{"timed out after 5 ms", "out@5"});
}

Task<> sleeps_again(Timeline& timeline, CancelScope& scope) {
  scope.enter();
  try {
    co_await Sleep(5ms);
    timeline.push_back(at_now("slept"));
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
  }
  scope.leave();
  co_await Sleep(10ms);
  timeline.push_back(at_now("slept again"));
}
Task<> cancels_scope(CancelScope& scope) {
  co_await Sleep(5ms);
  scope.cancel();
}

// T3: golang/go #14038, an expiry already under way leaked into the next use of the timer.
TEST_CASE("CancelScope: a cancel in the instant of the wake-up does not leak into the next sleep") {
  for (const bool canceller_first : {true, false}) {
    Timeline timeline;
    CancelScope scope;
    Executor executor(virtual_time);
    if (canceller_first) executor.submit(cancels_scope(scope), {.priority = Priority::high});
    executor.submit(sleeps_again(timeline, scope));
    if (!canceller_first) executor.submit(cancels_scope(scope));
    executor.run();
    CHECK(timeline == Timeline{"slept@5", "slept again@15"});
  }
}

Task<Timeline> any_awaitable(Gate& gate) {
  Timeline timeline;
  Handle<int> handle = submit(gives(4, 20ms));
  if (auto value = co_await try_timeout(1ms, handle); !value) timeline.push_back(at_now("handle"));
  if (bool passed = co_await try_timeout(1ms, gate.pass()); !passed) timeline.push_back(at_now("gate"));
  if (bool slept = co_await try_timeout(1ms, Sleep(1us)); slept) timeline.push_back("slept");
  timeline.push_back(std::to_string(co_await timeout(1h, handle)));
  std::unique_ptr<int> moved =
      co_await timeout(1h, []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); }());
  timeline.push_back(std::to_string(*moved));
  co_return timeline;
}

TEST_CASE("timeout: takes whatever stands behind co_await, and a handle stays good") {
  Gate gate;
  CHECK(result_of(any_awaitable(gate)) == Timeline{"handle@1", "gate@2", "slept", "4", "5"});
  CHECK(gate.withdrawn == 1);
}

Task<Timeline> tries() {
  Timeline timeline;
  const std::optional<int> value = co_await try_timeout(2ms, gives(7, 1ms));
  timeline.push_back(std::to_string(*value));
  const std::optional<int> none = co_await try_timeout(1ms, gives(7, 2ms));
  timeline.push_back(none ? "value" : "none");
  const bool done = co_await try_timeout(1ms, nothing());
  timeline.push_back(done ? "done" : "not done");
  try {
    co_await try_timeout(1h, timeout(1ms, Sleep(1h)));
  } catch (const TimedOut&) {
    timeline.push_back("the inner limit");
  }
  co_return timeline;
}

TEST_CASE("try_timeout: gives an optional, or a bool; a limit inside still throws") {
  CHECK(result_of(tries()) == Timeline{"7", "none", "done", "the inner limit"});
}

Task<> tries_often(int times) {
  for (; times > 0; --times) co_await try_timeout(1h, nothing());
}

// C8: folly 13897bc4d, the timer of a timeout that was not needed stayed armed.
TEST_CASE("try_timeout: ten thousand limits that were not needed leave no timer") {
  Executor executor(virtual_time);
  executor.submit(tries_often(10'000));
  const RunReport report = executor.run();
  CHECK(report.now == Instant());
  CHECK(report.ticks == 0);
}

}  // namespace
