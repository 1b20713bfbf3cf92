#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "gate.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Timeline;
using bide::test::virtual_time;
using Ids = std::vector<int>;

constexpr Priority low = Priority::low;
constexpr Priority normal = Priority::normal;
constexpr Priority high = Priority::high;
constexpr Priority critical = Priority::critical;

Task<> note(Ids& ids, int id) {
  ids.push_back(id);
  co_return;
}
Task<> note_turns(Ids& ids, int id, int turns) {
  for (int i = 0; i < turns; ++i) {
    ids.push_back(id);
    co_await Yield();
  }
}

TEST_CASE("Priority: higher classes first, then who became ready first") {
  Ids ids;
  Executor executor(virtual_time);
  executor.submit(note(ids, 1), {.priority = low});
  executor.submit(note(ids, 2));
  executor.submit(note(ids, 3), {.priority = critical});
  executor.submit(note(ids, 4), {.priority = high});
  executor.submit(note(ids, 5), {.priority = normal});
  executor.submit(note(ids, 6), {.priority = critical});
  executor.run();
  CHECK(ids == Ids{3, 6, 4, 2, 5, 1});
}

TEST_CASE("Priority: a Yield does not let a lower class in") {
  Ids ids;
  Executor executor(virtual_time);
  executor.submit(note_turns(ids, 1, 2), {.priority = low});
  executor.submit(note_turns(ids, 2, 3), {.priority = high});
  executor.submit(note_turns(ids, 3, 2), {.priority = high});
  executor.run();
  CHECK(ids == Ids{2, 3, 2, 3, 2, 1, 1});
}

Task<> wakes_at(Timeline& timeline, std::string name, Duration duration) {
  co_await Sleep(duration);
  timeline.push_back(test::at_now(name));
}

TEST_CASE("Priority: threads woken at one instant go by class, then by when they fell asleep") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(wakes_at(timeline, "low", 5ms), {.priority = low});
  executor.submit(wakes_at(timeline, "normal", 5ms));
  executor.submit(wakes_at(timeline, "normal too", 5ms));
  executor.submit(wakes_at(timeline, "high", 5ms), {.priority = high});
  executor.run();
  CHECK(timeline == Timeline{"high@5", "normal@5", "normal too@5", "low@5"});
  CHECK(executor.ticks() == 1);
}

Task<> tells_class(Timeline& timeline, std::string name) {
  const auto id = static_cast<std::size_t>(running.thread->id);
  timeline.push_back(name + std::to_string(id) + " " + to_string(running.thread->priority));
  co_return;
}
Task<> comes_back(Timeline& timeline, test::Gate& gate, Handle<> other) {
  co_await tells_class(timeline, "start ");
  co_await Sleep(1ms);
  co_await tells_class(timeline, "sleep ");
  co_await Yield();
  co_await tells_class(timeline, "yield ");
  co_await gate.pass();
  co_await tells_class(timeline, "wait ");
  co_await other;
  co_await tells_class(timeline, "join ");
  co_await submit(tells_class(timeline, "child "));
  co_await tells_class(timeline, "end ");
}
Task<> opens_later(test::Gate& gate) {
  co_await Sleep(2ms);
  gate.open();
}
Task<> sleeps(Duration duration) { co_await Sleep(duration); }

// TooManyCooks #96: a task came back from a wait at another priority than it left.
TEST_CASE("Priority: a thread keeps its class through every wait, and hands it to its children") {
  Timeline timeline;
  test::Gate gate;
  Executor executor(virtual_time);
  executor.submit(opens_later(gate), {.priority = low});
  Handle<> other = executor.submit(sleeps(5ms), {.priority = low});
  executor.submit(comes_back(timeline, gate, std::move(other)), {.priority = critical});
  executor.run();
  CHECK(timeline == Timeline{"start 3 critical", "sleep 3 critical", "yield 3 critical", "wait 3 critical",
                             "join 3 critical", "child 4 critical", "end 3 critical"});
}

Ids drained_with(std::uint64_t promote_every) {
  Ids ids;
  Executor executor({.time = TimeMode::virtual_time, .promote_every = promote_every});
  const Priority classes[] = {low, low, normal, high, high, high, normal};
  for (int id = 1; const Priority priority : classes) {
    executor.submit(note(ids, id++), {.priority = priority});
  }
  executor.run();
  return ids;
}

TEST_CASE("Priority: promote_every lets the oldest waiting thread rise a class") {
  CHECK(drained_with(2) == Ids{4, 5, 6, 1, 2, 3, 7});
  CHECK(drained_with(0) == Ids{4, 5, 6, 3, 7, 1, 2});
  CHECK(drained_with(1'000'000) == drained_with(0));
}

// A thread that submits its successor before it ends, as long as the low one has not run.
Task<> endless(const bool& low_ran, int& runs, int limit) {
  ++runs;
  if (!low_ran && runs < limit) submit(endless(low_ran, runs, limit));
  co_return;
}
Task<> mark(bool& ran) {
  ran = true;
  co_return;
}
int turns_before_low(std::uint64_t promote_every, Priority flood) {
  bool low_ran = false;
  int runs = 0;
  Executor executor({.time = TimeMode::virtual_time, .promote_every = promote_every});
  executor.submit(mark(low_ran), {.priority = low});
  executor.submit(endless(low_ran, runs, 1000), {.priority = flood});
  executor.run();
  return runs;
}

TEST_CASE(
    "Priority: under an endless high flood a low thread runs after 2N turns, under a critical one never") {
  for (const int every : {1, 2, 4, 8}) {
    CAPTURE(every);
    CHECK(turns_before_low(static_cast<std::uint64_t>(every), high) - 1 == 2 * every);
  }
  CHECK(turns_before_low(0, high) == 1000);
  CHECK(turns_before_low(4, critical) == 1000);
}

Task<> tells_class_each_turn(Timeline& timeline, int turns) {
  for (int i = 0; i < turns; ++i) {
    timeline.push_back(to_string(running.thread->priority));
    co_await Yield();
  }
}
Task<> three_turns() {
  for (int i = 0; i < 3; ++i) co_await Yield();
}

TEST_CASE("Priority: a promotion is for one turn, the thread is back in its own class at the next") {
  Timeline timeline;
  Executor executor({.time = TimeMode::virtual_time, .promote_every = 2});
  executor.submit(tells_class_each_turn(timeline, 2), {.priority = low});
  executor.submit(three_turns(), {.priority = high});
  executor.run();
  // Pops: high, high (low rises to normal), high, high (to high: it is older), low's first turn, and then
  // alone.
  CHECK(timeline == Timeline{"high", "low"});
}

// tokio #5686: a task that always spawned its successor kept a fast slot for ever.
TEST_CASE("Priority: a thread that submits itself anew each time does not keep its class to itself") {
  bool other_ran = false;
  int runs = 0;
  Executor executor(virtual_time);
  executor.submit(endless(other_ran, runs, 1000));
  executor.submit(mark(other_ran));
  executor.run();
  CHECK(runs == 2);
}

}  // namespace
