#include <catch2/catch.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "../executor/gate.hpp"
#include "../executor/timeline.hpp"

// C5: trio #1235, deep nesting of scopes overflowed the stack.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Gate;
using bide::test::Timeline;
using bide::test::virtual_time;

constexpr int depth = 10'000;

// Level 1 is the outermost, with the limit of `outermost`; those inside have longer ones.
Task<> nested(int level, Duration outermost, Timeline& timeline) {
  try {
    if (level < depth) {
      co_await timeout(outermost + Duration(level), nested(level + 1, outermost, timeline));
    } else {
      co_await timeout(outermost + Duration(level), Sleep(10h));
    }
  } catch (const TimedOut&) {
    timeline.push_back(at_now("level " + std::to_string(level)));
    throw;
  }
}
Task<> outermost_scope(Duration limit, Timeline& timeline) {
  try {
    co_await timeout(limit, nested(1, 1h, timeline));
  } catch (const TimedOut&) {
    timeline.push_back(at_now("outermost"));
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
  }
}

TEST_CASE("Scopes: of 10,000 nested limits the outermost one that is up reports, and no other") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(outermost_scope(5ms, timeline));
  executor.run();
  CHECK(timeline == Timeline{"outermost@5"});
}

TEST_CASE("Scopes: a cancel from around 10,000 nested limits passes through all of them") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(outermost_scope(20h, timeline));
  executor.run_for(5ms);
  handle.cancel();
  executor.run();
  CHECK(timeline == Timeline{"cancelled@5"});
  CHECK(executor.now() == Instant(5ms));
}

TEST_CASE("Scopes: 10,000 nested limits are destroyed with their executor") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(outermost_scope(20h, timeline));
  executor.run_for(5ms);
  CHECK(timeline.empty());
}

Task<> enters_all(std::deque<DeadlineScope>& scopes, Timeline& timeline) {
  for (DeadlineScope& scope : scopes) scope.enter();
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
  }
  int expired = 0;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    expired += scope->expired() ? 1 : 0;
    scope->leave();
  }
  timeline.push_back(std::to_string(expired) + " expired");
  co_await Sleep(1ms);
  timeline.push_back(at_now("after"));
}

TEST_CASE("DeadlineScope: 10,000 of them in one frame; the outermost is up, or all are at once") {
  for (const bool all_at_once : {false, true}) {
    Timeline timeline;
    std::deque<DeadlineScope> scopes;
    for (int level = 0; level < depth; ++level) {
      scopes.emplace_back(Instant(5ms + (all_at_once ? 0 : level) * Duration(1us)));
    }
    Executor executor(virtual_time);
    executor.submit(enters_all(scopes, timeline));
    executor.run();
    CHECK(timeline == Timeline{"cancelled@5", all_at_once ? "10000 expired" : "1 expired", "after@6"});
  }
}

Task<> nested_groups(TaskGroup&, int level, Timeline& timeline) {
  try {
    if (level < 2'000) {
      co_await with_task_group(nested_groups, level + 1, std::ref(timeline));
    } else {
      co_await Sleep(1h);
    }
  } catch (const Cancelled&) {
    if (level == 1 || level == 2'000) timeline.push_back(at_now("level " + std::to_string(level)));
    throw;
  }
}
Task<> holds_groups(Timeline& timeline) { co_await with_task_group(nested_groups, 1, std::ref(timeline)); }

TEST_CASE("TaskGroup: groups in groups, 2,000 deep, are cancelled from the inside out") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(holds_groups(timeline));
  executor.run_for(5ms);
  handle.cancel();
  executor.run();
  CHECK(timeline == Timeline{"level 2000@5", "level 1@5"});
}

// Each thread is a member of a group of the one before: a cancel goes from thread to thread.
Task<> chain_of_threads(TaskGroup& group, int length, int& cancelled) {
  if (length > 0) {
    group.submit(with_task_group(chain_of_threads, length - 1, std::ref(cancelled)));
  }
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    ++cancelled;
    throw;
  }
}
Task<> heads_chain(int length, int& cancelled) {
  co_await with_task_group(chain_of_threads, length, std::ref(cancelled));
}

TEST_CASE("TaskGroup: a cancel reaches a chain of 10,000 threads, each in a group of the one before") {
  int cancelled = 0;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(heads_chain(depth, cancelled));
  executor.run_for(5ms);
  CHECK(executor.size() == depth + 1);
  handle.cancel();
  executor.run();
  CHECK(cancelled == depth + 1);
  CHECK(executor.now() == Instant(5ms));
}

Task<> inside_a_shield(Timeline& timeline) {
  try {
    co_await timeout(3ms, Sleep(1h));
  } catch (const TimedOut&) {
    timeline.push_back(at_now("own limit"));
  }
  co_await Sleep(2ms);
  timeline.push_back(at_now("done"));
}
Task<> has_a_shield(Timeline& timeline) {
  co_await shielded(inside_a_shield(timeline));
  try {
    co_await Yield();
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
    throw;
  }
}
Task<> limits_a_shield(Timeline& timeline) {
  try {
    co_await timeout(1ms, has_a_shield(timeline));
  } catch (const TimedOut&) {
    timeline.push_back(at_now("outer limit"));
  }
}

TEST_CASE(
    "shielded: cancels from around do not reach inside, own limits do, and the cancel shows behind it") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(limits_a_shield(timeline));
  executor.run();
  CHECK(timeline == Timeline{"own limit@3", "done@5", "cancelled@5", "outer limit@5"});
}

Task<> cleans_up(TaskGroup& group, Timeline& timeline) {
  group.submit([](Timeline& line) -> Task<> {
    co_await Sleep(2ms);
    line.push_back(at_now("member"));
  }(timeline));
  co_await Sleep(1ms);
  timeline.push_back(at_now("body"));
}
Task<> is_cancelled_already(Timeline& timeline) {
  const int answer = co_await shielded([]() -> Task<int> { co_return 42; }());
  timeline.push_back(std::to_string(answer));
  co_await shielded(with_task_group(cleans_up, std::ref(timeline)));
  co_await Yield();
  timeline.push_back("not reached");
}

TEST_CASE("shielded: a cancelled thread can wait in it, with a group too") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(is_cancelled_already(timeline));
  handle.cancel();
  executor.run();
  CHECK(timeline == Timeline{"42", "body@1", "member@2"});
  CHECK_THROWS_AS(handle.take(), Cancelled);
}

Task<> enters_every_wait(Gate& gate, Gate& open_gate, bool cancelled_before, Timeline& timeline) {
  Handle<int> ended = submit([]() -> Task<int> { co_return 3; }());
  co_await Sleep(1ms);
  CancelScope scope;
  if (cancelled_before) scope.cancel();
  scope.enter();
  scope.cancel();  // while the thread runs, between two waits
  const auto note = [&](Task<> wait) -> Task<> {
    try {
      co_await std::move(wait);
      timeline.push_back("passed");
    } catch (const Cancelled&) {
      timeline.push_back(at_now("cancelled"));
    }
  };
  co_await note([]() -> Task<> { co_await Sleep(0ms); }());
  co_await note([]() -> Task<> { co_await Sleep(5ms); }());
  co_await note([]() -> Task<> { co_await Yield(); }());
  co_await note([](Gate& g) -> Task<> { co_await g.pass(); }(gate));
  co_await note([](Gate& g) -> Task<> { co_await g.pass(); }(open_gate));
  co_await note([](Handle<int>& h) -> Task<> { co_await h; }(ended));
  scope.leave();
  timeline.push_back(std::to_string(co_await ended));  // nothing was taken
  co_await Sleep(1ms);
  timeline.push_back(at_now("out"));
}

// C3: tokio #7462; C6: asio #1574.
TEST_CASE(
    "CancelScope: every wait that is entered cancelled throws and touches nothing; outside of it none does") {
  for (const bool cancelled_before : {true, false}) {
    Timeline timeline;
    Gate gate;
    Gate open_gate;
    open_gate.open();
    Executor executor(virtual_time);
    executor.submit(enters_every_wait(gate, open_gate, cancelled_before, timeline));
    executor.run();
    Timeline expected(6, "cancelled@1");
    expected.insert(expected.end(), {"3", "out@2"});
    CHECK(timeline == expected);
    CHECK(gate.withdrawn == 0);
  }
}

}  // namespace
