#include <catch2/catch.hpp>

#include <concepts>
#include <coroutine>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "death.hpp"
#include "gate.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> fails(std::string what, Duration duration = Duration(0)) {
  if (duration > Duration(0)) co_await Sleep(duration);
  throw std::runtime_error(what);
}
Task<> sleeps(Timeline& timeline, Duration duration) {
  bool cancelled = false;
  try {
    co_await Sleep(duration);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  timeline.push_back(at_now(cancelled ? "cancelled" : "slept"));
}
Task<> fails_on_cancel() {
  bool cancelled = false;
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  if (cancelled) throw std::logic_error("while cleaning up");
}
std::vector<std::string> texts(const std::vector<std::exception_ptr>& errors) {
  std::vector<std::string> all;
  for (const std::exception_ptr& error : errors) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& exception) {
      all.emplace_back(exception.what());
    } catch (...) {
      all.emplace_back("something else");
    }
  }
  return all;
}

TEST_CASE("Errors: of a detached thread cancels the others and leaves run when all have ended") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(sleeps(timeline, 1ms));
  executor.submit(fails("broken", 2ms));
  executor.submit(sleeps(timeline, 3ms));
  CHECK_THROWS_WITH(executor.run(), "broken");
  CHECK(timeline == Timeline{"slept@1", "cancelled@2"});
  CHECK(executor.size() == 0);
  CHECK(texts(executor.report().errors) == Timeline{"broken"});
}

TEST_CASE("Errors: the first leaves run, all are in the report, in the order of their throws") {
  Executor executor(virtual_time);
  executor.submit(fails_on_cancel());
  executor.submit(fails("first", 2ms));
  executor.submit(fails("second", 2ms));
  CHECK_THROWS_WITH(executor.run(), "first");
  CHECK(texts(executor.report().errors) == Timeline{"first", "second", "while cleaning up"});
  CHECK_NOTHROW(executor.run());  // what the report told is not thrown later
  CHECK(executor.report().errors.empty());
}

TEST_CASE("Errors: what is thrown need not be a std::exception") {
  Executor executor(virtual_time);
  executor.submit({}, []() -> Task<> {
    throw 5;
    co_return;
  });
  CHECK_THROWS_AS(executor.run(), int);
}

TEST_CASE("Errors: the executor runs again afterwards, and throws nothing twice") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(fails("broken", 2ms));
  CHECK_THROWS(executor.run());
  executor.submit(sleeps(timeline, 3ms));
  const RunReport report = executor.run();
  CHECK(timeline == Timeline{"slept@5"});
  CHECK(report.errors.empty());
}

TEST_CASE("Errors: a cancelled detached thread is none") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit({}, []() -> Task<> { co_await Sleep(1h); });
  executor.run_for(1ms);
  executor.stop();
  CHECK(executor.run().errors.empty());
}

TEST_CASE("Errors: what a posted function throws counts as the error of a detached thread") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(sleeps(timeline, 3ms));
  executor.post([] { throw std::runtime_error("posted"); });
  CHECK_THROWS_WITH(executor.run(), "posted");
  CHECK(timeline == Timeline{"cancelled@0"});
  executor.post([] { throw std::runtime_error("alone"); });
  CHECK_THROWS_WITH(executor.run(), "alone");
}

Task<> submits_a_failure(Timeline& timeline) {
  submit(fails("child"));
  co_await Sleep(1ms);
  timeline.push_back("not reached");
}

TEST_CASE("Errors: of a child that nobody joins cancels its parent too") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(submits_a_failure(timeline));
  CHECK_THROWS_WITH(executor.run(), "child");
  CHECK(timeline.empty());
}

TEST_CASE("Errors: run_until and run_one throw them when the last thread has ended") {
  Executor executor(virtual_time);
  executor.submit(fails("broken", 2ms));
  CHECK_THROWS_WITH(executor.run_until(Instant(5ms)), "broken");
  executor.submit(fails("again"));
  CHECK_THROWS_WITH(executor.run_one(), "again");
  CHECK_FALSE(executor.run_one());
}

// A wait that is entered although its thread is cancelled, and that nobody ends.
class Stuck final : public Wait {
 public:
  Stuck() : Wait(std::source_location::current()) {}
  bool await_ready() {
    enter();
    return false;
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  void await_resume() const {}
  void withdraw() noexcept override {}
  std::string describe() const override { return "what never comes"; }
};

Task<> stuck_on_cancel() {
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
  }
  co_await Stuck();
}

TEST_CASE("Errors: come before a Deadlock, which the next run throws") {
  Executor executor(virtual_time);
  executor.submit(stuck_on_cancel(), {.name = "stuck"});
  executor.submit(fails("broken", 2ms));
  CHECK_THROWS_WITH(executor.run(), "broken");
  REQUIRE(executor.report().unfinished.size() == 1);
  CHECK(executor.report().unfinished[0].name == "stuck");
  CHECK(executor.report().unfinished[0].state == "waits for what never comes");
  CHECK_THROWS_AS(executor.run(), Deadlock);
  CHECK(executor.report().errors.empty());
}

TEST_CASE("Errors: run_until only reports them while threads are left, and the next run throws") {
  Executor executor(virtual_time);
  executor.submit(fails_on_cancel());
  executor.submit(stuck_on_cancel());
  executor.submit(fails("broken", 2ms));
  std::vector<std::string> told;
  CHECK_NOTHROW(told = texts(executor.run_until(Instant(5ms)).errors));
  CHECK(told == Timeline{"broken", "while cleaning up"});
  CHECK_THROWS_WITH(executor.run(), "broken");
}

Task<> shrugs_off_cancels(int& cancels) {
  for (int i = 0; i < 3; ++i) {
    try {
      co_await Sleep(1h);
    } catch (const Cancelled&) {
      ++cancels;
    }
  }
}

TEST_CASE("Errors: a thread that catches each Cancelled is not waited for without end") {
  int cancels = 0;
  Executor executor(virtual_time);
  executor.submit(shrugs_off_cancels(cancels));
  executor.submit(fails("broken", 2ms));
  CHECK_THROWS_WITH(executor.run(), "broken");
  CHECK(cancels == 3);
  CHECK(executor.now() == Instant(2ms));
}

TEST_CASE("Errors: one that no run has thrown is told when the executor ends") {
  const test::Death death = test::death_of([] {
    Executor executor(virtual_time);
    const Handle<> handle = executor.submit(fails("broken"));
    executor.run();
  });
  CHECK_FALSE(death.aborted);
  CHECK_THAT(death.said, Catch::Contains("broken"));
  std::optional<Handle<>> later;
  const test::Death outlived = test::death_of([&later] {
    {
      Executor executor(virtual_time);
      later = executor.submit(fails("broken"));
      executor.run();
    }
    later.reset();
  });
  CHECK_THAT(outlived.said, Catch::Contains("broken"));
}

}  // namespace
