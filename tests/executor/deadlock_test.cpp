#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "gate.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Gate;
using bide::test::Timeline;
using bide::test::virtual_time;

// The line after the call, as reports print it.
std::string next_line(std::source_location here = std::source_location::current()) {
  return std::string(here.file_name()) + ":" + std::to_string(here.line() + 1);
}
std::string text_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Deadlock& deadlock) {
    return deadlock.what();
  }
  return "no deadlock";
}

struct Lines {
  std::string pass, submit, await;
};

Task<> passes(Gate& gate, Lines& lines) {
  lines.pass = next_line();
  co_await gate.pass();
}
Task<> awaits_pass(Gate& gate, Lines& lines) {
  co_await Sleep(1500us);
  lines.await = next_line();
  co_await passes(gate, lines);
}

TEST_CASE(
    "Deadlock: the text names the thread, what it waits for, and the lines of wait, awaits and submit") {
  Gate gate;
  Lines lines;
  Executor executor(virtual_time);
  lines.submit = next_line();
  executor.submit(awaits_pass(gate, lines), {.name = "reader", .priority = Priority::high});
  const std::string text = text_of([&] { executor.run(); });
  CHECK(text ==
        "deadlock at 1.5 ms: 1 thread waits and nothing can wake it\n"
        "  by a lost wake-up:\n"
        "    thread 1 \"reader\" (high) waits for the gate at " +
            lines.pass + " since 1.5 ms, awaited at " + lines.await + "; submitted at " + lines.submit +
            "; nobody is left who could wake it");
}

Task<> submits_here(Gate& gate, Lines& lines, Lines& unused) {
  lines.submit = next_line();
  submit(passes(gate, lines));
  lines.await = next_line();
  submit({}, [&gate, &unused] { return passes(gate, unused); });
  co_return;
}

TEST_CASE("Deadlock: the line of a submit without options, and of one from within a thread") {
  Gate gate;
  Lines lines;
  Lines in_thread;
  Lines unused;
  Executor executor(virtual_time);
  lines.submit = next_line();
  executor.submit(passes(gate, lines));
  executor.submit(submits_here(gate, in_thread, unused));
  const std::string text = text_of([&] { executor.run(); });
  CHECK_THAT(text, Catch::Contains("thread 1 (normal) waits for the gate at " + lines.pass +
                                   " since 0 s; submitted at " + lines.submit));
  CHECK_THAT(text, Catch::Contains("thread 3 (normal)"));
  CHECK_THAT(text, Catch::Contains("; submitted at " + in_thread.submit));
  CHECK_THAT(text, Catch::Contains("; submitted at " + in_thread.await));
}

Task<> joins(std::optional<Handle<>>& handle) { co_await *handle; }

TEST_CASE("Deadlock: names the cycle of threads that wait for each other") {
  std::optional<Handle<>> first;
  std::optional<Handle<>> second;
  std::optional<Handle<>> third;
  Gate gate;
  Lines lines;
  Executor executor(virtual_time);
  executor.submit(passes(gate, lines), {.name = "beside"});
  first = executor.submit(joins(second), {.name = "a"});
  second = executor.submit(joins(third), {.name = "b"});
  third = executor.submit(joins(first), {.name = "c"});
  const std::string text = text_of([&] { executor.run(); });
  CHECK_THAT(text, Catch::StartsWith("deadlock at 0 s: 4 threads wait and nothing can wake them\n"
                                     "  in a cycle: 2 -> 3 -> 4 -> 2\n"
                                     "    thread 2 \"a\""));
  CHECK_THAT(text, Catch::Contains("thread 2 \"a\" (normal) waits for thread 3 to end"));
}

TEST_CASE("Deadlock: a thread that waits for itself is a cycle") {
  std::optional<Handle<>> own;
  Executor executor(virtual_time);
  own = executor.submit(joins(own), {.name = "self"});
  const std::string text = text_of([&] { executor.run(); });
  CHECK_THAT(text, Catch::Contains("1 thread waits and nothing can wake it"));
  CHECK_THAT(text, Catch::Contains("in a cycle: 1 -> 1"));
  CHECK_THAT(text, Catch::Contains("thread 1 \"self\" (normal) waits for thread 1 to end"));
}

TEST_CASE("Deadlock: lists the threads as data, in submit order") {
  Gate gate;
  Lines lines;
  std::optional<Handle<>> passing;
  Executor executor(virtual_time);
  executor.submit(joins(passing), {.name = "joiner"});
  passing = executor.submit(passes(gate, lines), {.name = "passer", .priority = Priority::low});
  std::vector<ThreadReport> threads;
  try {
    executor.run();
  } catch (const Deadlock& deadlock) {
    const Deadlock copy = deadlock;
    threads = copy.threads();
  }
  REQUIRE(threads.size() == 2);
  CHECK(threads[0].id == 1);
  CHECK(threads[0].name == "joiner");
  CHECK(threads[0].state == "waits for thread 2 to end");
  CHECK(threads[0].waits_for == std::vector<std::uint64_t>{2});
  CHECK(threads[1].id == 2);
  CHECK(threads[1].priority == Priority::low);
  CHECK(threads[1].state == "waits for the gate");
  CHECK(threads[1].waits_for.empty());
  CHECK(executor.report().unfinished.size() == 2);
}

TEST_CASE("Deadlock: control characters of a name are escaped, so that it forges no line") {
  Gate gate;
  Lines lines;
  Executor executor(virtual_time);
  executor.submit(passes(gate, lines), {.name = "a\n  thread 2 \"b\"\x1b[31m\x7f\t"});
  CHECK_THAT(text_of([&] { executor.run(); }), Catch::Contains("thread 1 \"a\\x0a  thread 2 "));
  CHECK(executor.report().unfinished[0].name.find('\x1b') == std::string::npos);
  CHECK(executor.report().unfinished[0].name.find('\x7f') == std::string::npos);
}

TEST_CASE("Deadlock: the threads stay as they are, and go on when they are woken") {
  Timeline timeline;
  Gate gate;
  Lines lines;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(passes(gate, lines));
  CHECK_THROWS_AS(executor.run(), Deadlock);
  CHECK_THROWS_AS(executor.run(), Deadlock);
  CHECK(gate.waiting_count() == 1);
  gate.open();
  CHECK(executor.run().unfinished.empty());
  handle.take();
}

TEST_CASE("Deadlock: stop and another run end the threads that it names") {
  Gate gate;
  Lines lines;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(passes(gate, lines));
  CHECK_THROWS_AS(executor.run(), Deadlock);
  executor.stop();
  executor.run();
  CHECK(gate.withdrawn == 1);
  CHECK_THROWS_AS(handle.take(), Cancelled);
}

Task<> joins_a(Handle<>& handle) { co_await handle; }

TEST_CASE("Deadlock: reaches a caller whose Handles go before the executor does") {
  std::string text;
  try {
    Gate gate;
    Lines lines;
    Executor executor(virtual_time);
    Handle<> passing = executor.submit(passes(gate, lines));
    executor.submit(joins_a(passing));
    executor.run();
  } catch (const Deadlock& deadlock) {
    text = deadlock.what();
  }
  CHECK_THAT(text, Catch::Contains("thread 2 (normal) waits for thread 1 to end"));
}

Task<> heartbeat() {
  for (;;) co_await Sleep(1s);
}

// PierreZ/moonpool #116: a heartbeat kept the simulation going while the thread under test was stuck.
TEST_CASE("Deadlock: run_until is none, and its report names a stuck thread beside a heartbeat") {
  Gate gate;
  Lines lines;
  Executor executor(virtual_time);
  executor.submit(heartbeat(), {.name = "heartbeat"});
  executor.submit(passes(gate, lines), {.name = "main"});
  const RunReport report = executor.run_for(60s);
  REQUIRE(report.unfinished.size() == 2);
  CHECK(report.unfinished[0].name == "heartbeat");
  CHECK(report.unfinished[0].state == "sleeps until 61 s");
  CHECK(report.unfinished[1].name == "main");
  CHECK(report.unfinished[1].state == "waits for the gate");
  CHECK(report.ticks == 60);
}

TEST_CASE("Deadlock: in real time it is one when no post has come for deadlock_after") {
  Gate gate;
  Lines lines;
  Executor executor({.deadlock_after = 1ms});
  executor.submit(passes(gate, lines), {.name = "main"});
  CHECK_THROWS_WITH(executor.run(), Catch::Contains("\"main\" (normal) waits for the gate"));
}

TEST_CASE("Deadlock: durations in its text are exact") {
  CHECK(to_string(Duration(0)) == "0 s");
  CHECK(to_string(Duration(1)) == "1 ns");
  CHECK(to_string(Duration(1500)) == "1.5 us");
  CHECK(to_string(Duration(-2ms)) == "-2 ms");
  CHECK(to_string(Duration(1'000'000'001)) == "1.000000001 s");
  CHECK(to_string(Duration(90min)) == "5400 s");
  CHECK(to_string(Duration::max()) == "9223372036.854775807 s");
  CHECK(to_string(Duration::min()) == "-9223372036.854775808 s");
}

}  // namespace
