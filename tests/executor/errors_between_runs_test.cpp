#include <catch2/catch.hpp>

#include <optional>
#include <stdexcept>
#include <string>

#include <bide/executor/cancel_scope.hpp>
#include <bide/executor/executor.hpp>

#include "timeline.hpp"

// An error that nobody awaits reaches whoever drives the executor, by whatever call, and once.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> fails(std::string what) {
  throw std::runtime_error(what);
  co_return;
}
// On a cancel it takes that long to clean up.
Task<> cleans_up(Timeline& timeline, Duration duration) {
  bool cancelled = false;
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  CancelScope shield(CancelScope::Shield::yes);
  shield.enter();
  if (cancelled) co_await Sleep(duration);
  timeline.push_back(at_now("cleaned up"));
}
std::string thrown_by(Executor& executor, bool (*drive)(Executor&)) {
  try {
    return drive(executor) ? "went on" : "nothing";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}
bool by_run(Executor& executor) {
  executor.run();
  return false;
}
bool by_run_for(Executor& executor) {
  executor.run_for(1s);
  return false;
}
bool by_run_one(Executor& executor) { return executor.run_one(); }

constexpr auto each_way = {by_run, by_run_for, by_run_one};

}  // namespace

TEST_CASE(
    "Errors: one that goes with its Handle between two runs is thrown by the next, whichever call that is") {
  for (const auto drive : each_way) {
    Executor executor(virtual_time);
    std::optional<Handle<>> handle = executor.submit(fails("dropped"));
    executor.run();  // the Handle has it
    handle.reset();
    CHECK(thrown_by(executor, drive) == "dropped");
    CHECK(thrown_by(executor, drive) == "nothing");
  }
}

TEST_CASE("Errors: one that goes with its Handle while threads are left cancels them") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(cleans_up(timeline, 5ms));
  std::optional<Handle<>> handle = executor.submit(fails("dropped"));
  executor.run_for(1ms);
  handle.reset();
  CHECK_THROWS_WITH(executor.run(), "dropped");
  CHECK(timeline == Timeline{"cleaned up@6"});
}

TEST_CASE("Errors: a Handle that is assigned over loses no error, and one that is taken is none any more") {
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(fails("first"));
  executor.run();
  handle = executor.submit(fails("second"));
  CHECK_THROWS_WITH(executor.run(), "first");
  CHECK_THROWS_WITH(handle.take(), Catch::Contains("second"));
  CHECK_NOTHROW(executor.run());
}

TEST_CASE("Errors: run_one goes on while threads clean up, and throws when they have ended") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(cleans_up(timeline, 5ms));
  executor.submit(fails("detached"));
  executor.submit(fails("detached too"));
  Timeline calls;
  do calls.push_back(thrown_by(executor, by_run_one));
  while (calls.back() == "went on");
  // Four turns: of the three threads, and of the first when it is cancelled; it ends in the fifth.
  CHECK(calls == Timeline{"went on", "went on", "went on", "went on", "detached"});
  CHECK(timeline == Timeline{"cleaned up@5"});
  CHECK(executor.report().errors.size() == 2);
  CHECK(thrown_by(executor, by_run_one) == "nothing");
}

TEST_CASE("Errors: run_one leaves one to the next run, which throws it") {
  for (const auto drive : {by_run, by_run_for}) {
    Timeline timeline;
    Executor executor(virtual_time);
    executor.submit(cleans_up(timeline, 5ms));
    executor.submit(fails("detached"));
    CHECK(thrown_by(executor, by_run_one) == "went on");
    CHECK(thrown_by(executor, by_run_one) == "went on");
    CHECK(executor.report().errors.size() == 1);
    CHECK(thrown_by(executor, drive) == "detached");
    CHECK(thrown_by(executor, drive) == "nothing");
  }
}

TEST_CASE(
    "Errors: a run_until that ends before its threads reports one, and the call in which they end throws") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(cleans_up(timeline, 2s));
  executor.submit(fails("detached"));
  CHECK(executor.run_until(Instant(1s)).errors.size() == 1);
  CHECK(executor.run_until(Instant(1500ms)).errors.size() == 1);
  CHECK(timeline.empty());
  CHECK_THROWS_WITH(executor.run_until(Instant(3s)), "detached");
  CHECK(timeline == Timeline{"cleaned up@2000"});
  CHECK(executor.now() == Instant(3s));
  CHECK(executor.report().errors.size() == 1);  // until the next run
  CHECK(executor.run_until(Instant(4s)).errors.empty());
}
