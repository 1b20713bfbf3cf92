#include <catch2/catch.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_all.hpp>

#include "../executor/timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::result_of;
using bide::test::Timeline;
using bide::test::virtual_time;

struct Record {  // an aggregate that owns memory
  std::string text;
  int number;
};
Task<int> gives(int value, Duration after) {
  co_await Sleep(after);
  co_return value;
}
Task<std::string> begins(Timeline& timeline, const char* word, Duration after) {
  timeline.push_back(word);
  co_await Sleep(after);
  co_return std::string(word) + " has a text too long for the small string buffer";
}
Task<Record> record(Duration after) {
  co_await Sleep(after);
  Record made{"a text that is too long for the small string buffer", 3};
  co_return made;
}
Task<std::unique_ptr<int>> moves(int value) { co_return std::make_unique<int>(value); }
Task<int&> refers(int& value) { co_return value; }
Task<> nothing() { co_return; }
Task<int> fails(const char* what, Duration after) {
  co_await Sleep(after);
  throw std::runtime_error(what);
}
Task<int> notes_its_cancel(Timeline& timeline, const char* name) {
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    timeline.push_back(at_now(std::string(name) + " cancelled"));
    throw;
  }
  co_return 0;
}

Task<Timeline> all_kinds() {
  Timeline timeline;
  int referred = 8;
  auto [number, text, made, pointer, reference, none] = co_await when_all(
      gives(4, 2ms), begins(timeline, "b", 3ms), record(1ms), moves(5), refers(referred), nothing());
  timeline.push_back(at_now(std::to_string(number) + text.substr(0, 1) + std::to_string(*pointer)));
  reference.get() = 9;
  timeline.push_back(std::to_string(referred) + std::to_string(made.number) + made.text.substr(0, 6));
  static_assert(std::is_same_v<decltype(none), std::monostate>);
  co_return timeline;
}

TEST_CASE("when_all: gives every result, of every kind, when the last has ended") {
  CHECK(result_of(all_kinds()) == Timeline{"b", "4b5@3", "93a text"});
}

Task<std::size_t> counts_nothing() {
  co_await when_all();
  const std::vector<int> none = co_await when_all(std::vector<Task<int>>());
  co_return none.size();
}

TEST_CASE("when_all: of nothing is done at once") { CHECK(result_of(counts_nothing()) == 0); }

Task<Timeline> in_order() {
  Timeline timeline;
  co_await when_all(begins(timeline, "first", 3ms), begins(timeline, "second", 2ms),
                    begins(timeline, "third", 1ms));
  co_return timeline;
}

TEST_CASE("when_all: threads begin in the order of the arguments") {
  CHECK(result_of(in_order()) == Timeline{"first", "second", "third"});
}

Task<Timeline> one_fails() {
  Timeline timeline;
  try {
    co_await when_all(notes_its_cancel(timeline, "a"), fails("b", 2ms), fails("c", 2ms), gives(1, 1ms));
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(error.what()) + " +" + std::to_string(attached_errors().size()));
  }
  co_return timeline;
}

TEST_CASE(
    "when_all: the first error cancels the rest, is thrown when all have ended, and has the others "
    "attached") {
  // The second one had woken in the same instant: its error came, too.
  CHECK(result_of(one_fails()) == Timeline{"a cancelled@2", "b@2 +1"});
}

Task<Timeline> any_number(bool with_error) {
  Timeline timeline;
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 5; ++i) tasks.push_back(gives(i, Duration(1ms) * (5 - i)));
  if (with_error) tasks.push_back(fails("late", 2ms));
  try {
    const std::vector<int> values = co_await when_all(std::move(tasks));
    for (const int value : values) timeline.push_back(std::to_string(value));
  } catch (const std::runtime_error& error) {
    timeline.push_back(error.what());
  }
  timeline.push_back(at_now(""));
  std::vector<Task<>> voids;
  voids.push_back(nothing());
  voids.push_back(nothing());
  co_await when_all(std::move(voids));
  co_return timeline;
}

TEST_CASE("when_all: takes a vector of tasks and gives the results in its order") {
  CHECK(result_of(any_number(false)) == Timeline{"0", "1", "2", "3", "4", "@5"});
  CHECK(result_of(any_number(true)) == Timeline{"late", "@2"});
}

Task<int> joins_what_is_cancelled() {
  Handle<int> handle = submit(gives(1, 1h));
  handle.cancel();
  co_return co_await handle;
}
Task<Timeline> one_has_no_value() {
  Timeline timeline;
  try {
    co_await when_all(notes_its_cancel(timeline, "a"), joins_what_is_cancelled());
  } catch (const Cancelled&) {
    timeline.push_back(at_now("no result"));
  }
  co_await Yield();
  co_return timeline;
}

TEST_CASE("when_all: one that ends by a cancel of its own ends the others too") {
  CHECK(result_of(one_has_no_value()) == Timeline{"a cancelled@0", "no result@0"});
}

Task<int> child_of(Timeline& timeline, Duration after) {
  co_await Sleep(after);
  timeline.push_back(at_now("child done"));
  co_return 2;
}
Task<> waits_for_two(Timeline& timeline) {
  try {
    auto [a, b] = co_await when_all(child_of(timeline, 5ms), child_of(timeline, 5ms));
    timeline.push_back(at_now(std::to_string(a + b)));
    co_await Yield();
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
  }
}
Task<> cancels(Handle<>& handle, Duration after) {
  co_await Sleep(after);
  handle.cancel();
}

TEST_CASE("when_all: results that came in the instant of a cancel are given, and the next wait throws") {
  for (const Duration after : {4ms, 5ms}) {
    Timeline timeline;
    Executor executor(virtual_time);
    Handle<> handle = executor.submit(waits_for_two(timeline), {.priority = Priority::low});
    executor.submit(cancels(handle, after));
    executor.run();
    CHECK(timeline == (after == 4ms ? Timeline{"cancelled@4"}
                                    : Timeline{"child done@5", "child done@5", "4@5", "cancelled@5"}));
  }
}

Task<Timeline> settles() {
  Timeline timeline;
  auto [good, bad, stopped] =
      co_await when_all_settled(gives(4, 2ms), fails("bad", 1ms), joins_what_is_cancelled());
  timeline.push_back(at_now(std::to_string(good.value())));
  timeline.push_back(bad.has_value() ? "value" : "error");
  timeline.push_back(is_cancelled(stopped.error()) ? "cancelled" : "not cancelled");
  std::vector<Task<int>> tasks;
  tasks.push_back(fails("x", 1ms));
  tasks.push_back(gives(6, 2ms));
  const std::vector<Outcome<int>> outcomes = co_await when_all_settled(std::move(tasks));
  timeline.push_back(at_now(std::to_string(outcomes.size()) + (outcomes[0] ? "value" : "error")));
  timeline.push_back(std::to_string(outcomes[1].value()));
  auto [none] = co_await when_all_settled(nothing());
  none.value();
  co_return timeline;
}

TEST_CASE("when_all_settled: gives an Outcome for each, and an error cancels nothing") {
  CHECK(result_of(settles()) == Timeline{"4@2", "error", "cancelled", "2error@4", "6"});
}

Task<> settles_under_cancel(Timeline& timeline) {
  auto [done, stopped] = co_await when_all_settled(gives(4, 1ms), gives(5, 1h));
  timeline.push_back(std::to_string(done.value()));
  timeline.push_back(at_now(stopped ? "value" : "stopped"));
  co_await Yield();
  timeline.push_back("not reached");
}

TEST_CASE("when_all_settled: under a cancel what was done is given, and the next wait throws") {
  Timeline timeline;
  Executor executor(virtual_time);
  Handle<> handle = executor.submit(settles_under_cancel(timeline));
  executor.submit(cancels(handle, 5ms));
  executor.run();
  CHECK(timeline == Timeline{"4", "stopped@5"});
  CHECK_THROWS_AS(handle.take(), Cancelled);
}

Task<> overfills(Timeline& timeline, bool settled) {
  try {
    if (settled) {
      co_await when_all_settled(notes_its_cancel(timeline, "a"), gives(1, 1ms), gives(2, 1ms));
    } else {
      co_await when_all(notes_its_cancel(timeline, "a"), gives(1, 1ms), gives(2, 1ms));
    }
  } catch (const QueueFull&) {
    timeline.push_back(at_now("full"));
  }
  timeline.push_back(std::to_string(Executor::current().size()));
}

TEST_CASE("when_all: QueueFull cancels those that were let in, and arrives") {
  for (const bool settled : {false, true}) {
    Timeline timeline;
    Executor executor({.time = TimeMode::virtual_time, .capacity = 3});
    executor.submit(overfills(timeline, settled));
    executor.run();
    CHECK(timeline == Timeline{"a cancelled@0", "full@0", "1"});
  }
}

Task<Timeline> combined() {
  Timeline timeline;
  Handle<int> handle = submit(gives(3, 3ms));
  auto [limited, joined, slept, maybe] = co_await timeout(
      1h, when_all(timeout(5ms, gives(1, 1ms)), handle, Sleep(2ms), try_timeout(1ms, gives(1, 2ms))));
  timeline.push_back(at_now(std::to_string(limited + joined) + (maybe ? "value" : "none")));
  static_cast<void>(slept);
  co_return timeline;
}

TEST_CASE("when_all: takes what other combinators return, handles and sleeps, and stands in them") {
  CHECK(result_of(combined()) == Timeline{"4none@3"});
}

}  // namespace
