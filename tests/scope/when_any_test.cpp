#include <catch2/catch.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <bide/executor/scope/outcome.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_any.hpp>

#include "../executor/death.hpp"
#include "../executor/timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Counted;
using bide::test::result_of;
using bide::test::Timeline;
using bide::test::virtual_time;

struct Record {
  std::string text;
  int number;
};
Task<int> gives(int value, Duration after) {
  co_await Sleep(after);
  co_return value;
}
Task<Record> record(Duration after) {
  co_await Sleep(after);
  Record made{"a text that is too long for the small string buffer", 3};
  co_return made;
}
Task<> does(Duration after) { co_await Sleep(after); }
Task<int> fails(const char* what, Duration after) {
  co_await Sleep(after);
  throw std::runtime_error(what);
}
Task<int> cleans_up(Timeline& timeline, Duration needs) {
  bool cancelled = false;
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  if (cancelled) co_await shielded(Sleep(needs));
  timeline.push_back(at_now("clean"));
  co_await Yield();
  co_return 0;
}

Task<Timeline> first_wins() {
  Timeline timeline;
  auto [index, value] = co_await when_any(gives(4, 3ms), record(1ms), does(2ms));
  timeline.push_back(at_now(std::to_string(index) + std::get<1>(value).text.substr(0, 6)));
  const auto second = co_await when_any(gives(4, 3ms), record(4ms), does(2ms));
  timeline.push_back(at_now(std::to_string(second.index) + std::to_string(second.value.index())));
  const auto single = co_await when_any(gives(6, 0ms));
  timeline.push_back(std::to_string(std::get<0>(single.value)));
  co_return timeline;
}

TEST_CASE("when_any: the first to end gives index and value") {
  CHECK(result_of(first_wins()) == Timeline{"1a text@1", "22@3", "6"});
}

Task<Timeline> same_kinds() {
  Timeline timeline;
  auto [index, value] = co_await when_any(gives(1, 3ms), gives(2, 2ms), gives(3, 2ms));
  timeline.push_back(
      at_now(std::to_string(index) + std::to_string(value.index()) + std::to_string(std::get<1>(value))));
  co_return timeline;
}

TEST_CASE("when_any: of two at one instant the one that came first; equal types keep their places") {
  CHECK(result_of(same_kinds()) == Timeline{"112@2"});
}

Task<Timeline> waits_for_losers() {
  Timeline timeline;
  const auto first = co_await when_any(cleans_up(timeline, 3ms), gives(5, 2ms));
  timeline.push_back(at_now(std::to_string(first.index)));
  co_return timeline;
}

TEST_CASE("when_any: losers are cancelled and waited for") {
  CHECK(result_of(waits_for_losers()) == Timeline{"clean@5", "1@5"});
}

Task<Timeline> error_wins() {
  Timeline timeline;
  try {
    co_await when_any(gives(1, 3ms), fails("first", 2ms), fails("second", 2ms));
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(error.what()) + " +" + std::to_string(attached_errors().size()));
  }
  try {
    co_await when_any(fails("before a value", 2ms), gives(1, 2ms));
  } catch (const std::runtime_error& error) {
    timeline.push_back(error.what());
  }
  const auto first = co_await when_any(gives(1, 2ms), fails("loser", 2ms));
  timeline.push_back(std::to_string(first.index) + " and " + std::to_string(first.errors.size()) + " errors");
  co_return timeline;
}

TEST_CASE("when_any: an error wins like a value; errors of losers are attached, or beside the value") {
  CHECK(result_of(error_wins()) == Timeline{"first@2 +1", "before a value", "0 and 1 errors"});
}

Task<Counted> counted(int& alive, Duration after) {
  co_await Sleep(after);
  co_return Counted(alive);
}
Task<int> values_of_losers(int& alive) {
  {
    auto first = co_await when_any(counted(alive, 1ms), counted(alive, 1ms));
    if (alive != 1) co_return -1;
  }
  co_return alive;
}

TEST_CASE("when_any: what losers return all the same is destroyed, once") {
  int alive = 0;
  CHECK(result_of(values_of_losers(alive)) == 0);
  CHECK(alive == 0);
}

Task<Timeline> any_number() {
  Timeline timeline;
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(gives(i, Duration(1ms) * (100 - i)));
  auto [index, value] = co_await when_any(std::move(tasks));
  timeline.push_back(at_now(std::to_string(index) + " " + std::to_string(value)));
  std::vector<Task<>> voids;
  voids.push_back(does(2ms));
  voids.push_back(does(1ms));
  const auto first = co_await when_any(std::move(voids));
  timeline.push_back(at_now(std::to_string(first.index)));
  co_return timeline;
}

TEST_CASE("when_any: takes a vector of tasks") {
  CHECK(result_of(any_number()) == Timeline{"99 99@1", "1@2"});
}

TEST_CASE("when_any: of nothing is a broken contract") {
  const auto death = bide::test::death_of([] {
    result_of([]() -> Task<> {
      std::vector<Task<>> none;
      co_await when_any(std::move(none));
    }());
  });
  CHECK(death.aborted);
  CHECK(death.said.find("when_any of nothing") != std::string::npos);
}

Task<> waits_for_two(Timeline& timeline, Duration wins) {
  try {
    auto [index, value] = co_await when_any(gives(1, wins), gives(2, 1h));
    timeline.push_back(at_now("won " + std::to_string(index)));
    co_await Yield();
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
    throw;
  }
}

TEST_CASE("when_any: under a cancel a result that has come wins, and without one Cancelled is thrown") {
  for (const bool lets_one_win : {true, false}) {
    Timeline timeline;
    Executor executor(virtual_time);
    Handle<> handle = executor.submit(waits_for_two(timeline, lets_one_win ? 5ms : 6ms));
    executor.submit([](Handle<>& other) -> Task<> {
      co_await Sleep(5ms);
      other.cancel();
    }(handle));
    executor.run();
    CHECK(timeline == (lets_one_win ? Timeline{"won 0@5", "cancelled@5"} : Timeline{"cancelled@5"}));
    CHECK_THROWS_AS(handle.take(), Cancelled);
  }
}

Task<int> stops_itself() {
  co_await Yield();
  throw Cancelled();
}
Task<Timeline> one_stops_itself() {
  Timeline timeline;
  const auto first = co_await when_any(stops_itself(), gives(3, 2ms));
  timeline.push_back(at_now(std::to_string(first.index)));
  co_return timeline;
}

TEST_CASE("when_any: one that ends by a cancel is no winner") {
  CHECK(result_of(one_stops_itself()) == Timeline{"1@2"});
}

Task<> overfills(Timeline& timeline) {
  try {
    co_await when_any(cleans_up(timeline, 1ms), gives(1, 1ms), gives(2, 1ms));
  } catch (const QueueFull&) {
    timeline.push_back(at_now("full"));
  }
}

TEST_CASE("when_any: QueueFull cancels those that were let in, and arrives") {
  Timeline timeline;
  Executor executor({.time = TimeMode::virtual_time, .capacity = 3});
  executor.submit(overfills(timeline));
  executor.run();
  CHECK(timeline == Timeline{"clean@1", "full@1"});
}

Task<Timeline> result_wins() {
  Timeline timeline;
  const auto first = co_await when_any_success(fails("early", 1ms), cleans_up(timeline, 2ms), gives(3, 2ms));
  timeline.push_back(at_now(std::to_string(first.index)) + " +" + std::to_string(first.errors.size()));
  std::vector<Task<int>> all;
  for (const char* what : {"a", "b"}) all.push_back(fails(what, 1ms));
  try {
    co_await when_any_success(std::move(all));
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(error.what()) + " +" + std::to_string(attached_errors().size()));
  }
  co_await Yield();  // nothing is pending
  try {
    co_await timeout(1ms, when_any_success(gives(1, 2ms), fails("c", 0ms)));
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(error.what()));
  }
  co_return timeline;
}

TEST_CASE("when_any_success: the first result wins; errors are beside it, or thrown when there is none") {
  CHECK(result_of(result_wins()) == Timeline{"clean@4", "2@4 +1", "a@5 +1", "c@6"});
}

Task<> overfills_success(Timeline& timeline) {
  try {
    co_await when_any_success(cleans_up(timeline, 1ms), gives(1, 1ms), gives(2, 1ms));
  } catch (const QueueFull&) {
    timeline.push_back(at_now("full"));
  }
}

TEST_CASE("when_any_success: QueueFull cancels those that were let in, and arrives") {
  Timeline timeline;
  Executor executor({.time = TimeMode::virtual_time, .capacity = 3});
  executor.submit(overfills_success(timeline));
  executor.run();
  CHECK(timeline == Timeline{"clean@1", "full@1"});
}

Task<int&> refers(int& value) { co_return value; }
Task<Timeline> outcomes() {
  Timeline timeline;
  Outcome<int> good = co_await outcome(gives(4, 1ms));
  timeline.push_back(std::to_string(good.value()) + (good.error() == nullptr ? " no error" : ""));
  const Outcome<int> bad = co_await outcome(fails("bad", 1ms));
  try {
    static_cast<void>(bad.value());
  } catch (const std::runtime_error& error) {
    timeline.push_back(error.what());
  }
  timeline.push_back(bad ? "value" : "error");
  Outcome<> limited = co_await outcome(timeout(1ms, Sleep(1h)));
  timeline.push_back(limited.has_value() ? "value" : "timed out");
  Handle<int> handle = submit(fails("of a thread", 1ms));
  const Outcome<int> joined = co_await outcome(handle);
  timeline.push_back(joined ? "value" : "error of a thread");
  int referred = 1;
  Outcome<int&> reference = co_await outcome(refers(referred));
  reference.value() = 2;
  timeline.push_back(std::to_string(referred));
  Outcome<std::unique_ptr<int>> pointer =
      co_await outcome([]() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); }());
  const std::unique_ptr<int> taken = std::move(pointer).value();
  timeline.push_back(std::to_string(*taken));
  co_return timeline;
}

TEST_CASE("outcome: gives a value or an error, of a task, a handle, a combinator") {
  CHECK(result_of(outcomes()) ==
        Timeline{"4 no error", "bad", "error", "timed out", "error of a thread", "2", "7"});
}

Task<> looks_at_outcome(Timeline& timeline) {
  const Outcome<> seen = co_await outcome(Sleep(1h));
  timeline.push_back(seen ? "value" : "error");
}

TEST_CASE("outcome: a cancel passes through") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(looks_at_outcome(timeline));
  executor.run_for(1ms);
  handle.cancel();
  executor.run();
  CHECK(timeline.empty());
  CHECK_THROWS_AS(handle.take(), Cancelled);
}

}  // namespace
