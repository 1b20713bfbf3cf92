#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
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

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "?";
  }
}

Task<> counts_cancels(int& cancels) {
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    ++cancels;
    throw;
  }
}
Task<> cancels_group(TaskGroup& group) {
  co_await Sleep(5ms);
  group.cancel();
}
struct Owner {
  int* destroyed;
  explicit Owner(int& counter) : destroyed(&counter) {}
  Owner(Owner&& other) noexcept : destroyed(std::exchange(other.destroyed, nullptr)) {}
  ~Owner() {
    if (destroyed != nullptr) ++*destroyed;
  }
};
enum class From { outside, child, limit };
Task<> three_that_end_on_cancel(TaskGroup& group, From from, Owner, int& cancels) {
  for (int i = 0; i < 3; ++i) group.submit(counts_cancels(cancels));
  if (from == From::child) group.submit(cancels_group(group));
  co_await counts_cancels(cancels);
}
Task<> owns_the_group(From from, int& destroyed, int& cancels) {
  Owner owner(destroyed);
  if (from == From::limit) {
    try {
      co_await timeout(5ms,
                       with_task_group(three_that_end_on_cancel, from, std::move(owner), std::ref(cancels)));
    } catch (const TimedOut&) {
    }
  } else {
    co_await with_task_group(three_that_end_on_cancel, from, std::move(owner), std::ref(cancels));
  }
}

// C4: libunifex #445, stdexec #2115: the last child ended inside the stop and destroyed what was iterating.
TEST_CASE("TaskGroup: members that end at once on a cancel, from anywhere, get exactly one") {
  for (const From from : {From::outside, From::child, From::limit}) {
    int destroyed = 0;
    int cancels = 0;
    Executor executor(virtual_time);
    Handle<> handle = executor.submit(owns_the_group(from, destroyed, cancels));
    executor.run_for(5ms);
    if (from == From::outside) handle.cancel();
    executor.run();
    CHECK(cancels == 4);
    CHECK(destroyed == 1);
    CHECK(executor.now() == Instant(5ms));
  }
}

Task<> cancels_itself_twice(std::optional<Handle<>>& own, int& cancels) {
  own->cancel();
  own->cancel();
  co_await counts_cancels(cancels);
}
Task<> cancels_twice(TaskGroup& group, int& cancels) {
  Handle<> member = group.submit(counts_cancels(cancels));
  Handle<> ended = group.submit([]() -> Task<> { co_return; }());
  co_await ended;
  ended.cancel();
  group.submit([](TaskGroup& of) -> Task<> { co_return of.cancel(); }(group));
  group.submit([](TaskGroup& of) -> Task<> { co_return of.cancel(); }(group));
  member.cancel();
  member.cancel();
  group.cancel();
  co_await counts_cancels(cancels);
}
Task<> holds(int& cancels) { co_await with_task_group(cancels_twice, std::ref(cancels)); }

// C7: seastar fc59dfaa2, corral aadbeaf: a second request for the same abort tripped an assertion.
TEST_CASE(
    "Cancel: a second one does nothing: of a thread, a group, a finished thread, oneself, by two in a turn") {
  int cancels = 0;
  std::optional<Handle<>> own;
  Executor executor(virtual_time);
  executor.submit(holds(cancels));
  own = executor.submit(cancels_itself_twice(own, cancels));
  executor.run();
  CHECK(cancels == 3);
  own->cancel();
  CHECK(executor.cancel(own->id()) == false);
}

Task<> fails_at(Duration instant, const char* what) {
  co_await Sleep(instant);
  throw std::runtime_error(what);
}
Task<> inner(TaskGroup& group) {
  group.submit(fails_at(5ms, "inner"));
  co_await Sleep(1h);
}
Task<> catches_the_inner_error(TaskGroup& outer, bool& handed_out, Timeline& timeline) {
  static_cast<void>(outer);
  handed_out = true;
  try {
    co_await with_task_group(inner);
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(error.what()));
  }
  try {
    co_await Sleep(1ms);
    timeline.push_back("not reached");
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
  }
}
Task<> holds_both(CancelScope& around, Timeline& timeline) {
  bool handed_out = false;
  around.enter();
  co_await with_task_group(catches_the_inner_error, std::ref(handed_out), std::ref(timeline));
  around.leave();
  co_await Sleep(1ms);
  timeline.push_back(at_now("nothing is pending"));
}
Task<> cancels_at(CancelScope& scope, Duration instant) {
  co_await Sleep(instant);
  scope.cancel();
}

// G2: cpython #95289, #116720: the inner group consumed the cancel meant for the outer one.
TEST_CASE(
    "TaskGroup: an error inside, in the turn of a cancel outside: the error is caught, the cancel not lost") {
  for (const bool canceller_first : {true, false}) {
    Timeline timeline;
    CancelScope around;
    Executor executor(virtual_time);
    if (canceller_first) executor.submit(cancels_at(around, 5ms), {.priority = Priority::high});
    executor.submit(holds_both(around, timeline));
    if (!canceller_first) executor.submit(cancels_at(around, 5ms), {.priority = Priority::low});
    executor.run();
    CHECK(timeline == Timeline{"inner@5", "cancelled@5", "nothing is pending@6"});
  }
}

Task<> stops_itself(Duration instant) {
  co_await Sleep(instant);
  throw Cancelled();
}
Task<> stop_throw_sleep(TaskGroup& group, int& cancels) {
  group.submit(stops_itself(5ms));
  group.submit(fails_at(5ms, "thrown"));
  group.submit(counts_cancels(cancels));
  co_return;
}
Task<> all_three(int& cancels, bool with_when_all, std::string& text) {
  try {
    if (with_when_all) {
      co_await when_all(stops_itself(5ms), fails_at(5ms, "thrown"), counts_cancels(cancels));
    } else {
      co_await with_task_group(stop_throw_sleep, std::ref(cancels));
    }
  } catch (const std::runtime_error& error) {
    text = error.what();
  }
}

// G3: stdexec #1489: an error was dropped because another child had reported "stopped" first.
TEST_CASE("TaskGroup: one stops itself, one throws in the same turn, one sleeps: the error is thrown") {
  for (const bool with_when_all : {false, true}) {
    int cancels = 0;
    std::string text;
    Executor executor(virtual_time);
    executor.submit(all_three(cancels, with_when_all, text));
    executor.run();
    CHECK(text == "thrown");
    CHECK(cancels == 1);
  }
}

Task<> fails_when_cancelled(const char* what) {
  bool cancelled = false;
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  if (cancelled) throw std::runtime_error(what);
}
Task<> four_fail(TaskGroup& group) {
  group.submit(fails_when_cancelled("b"));
  group.submit(fails_at(1ms, "a"));
  group.submit(fails_when_cancelled("c"));
  co_await fails_when_cancelled("body");
}
Task<> in_another_group(TaskGroup& group) {
  group.submit(fails_when_cancelled("outer"));
  co_await with_task_group(four_fail);
}
Task<Timeline> attached() {
  Timeline timeline;
  try {
    co_await with_task_group(in_another_group);
  } catch (const std::runtime_error& error) {
    timeline.push_back(error.what());
    for (const std::exception_ptr& other : attached_errors()) timeline.push_back(text_of(other));
  }
  timeline.push_back(std::to_string(attached_errors(std::make_exception_ptr(1)).size()));
  co_return timeline;
}

TEST_CASE("attached_errors: what came after the first error, in order, of all groups that it left") {
  CHECK(result_of(attached()) == Timeline{"a", "body", "b", "c", "outer", "0"});
}

Task<> joins_and_lets_pass(Handle<>& other) { co_await other; }
Task<> fails_for_all(TaskGroup& group) {
  Handle<> member = group.submit(fails_at(1ms, "member"));
  co_await with_task_group([](TaskGroup&, Handle<>& of) -> Task<> { co_await joins_and_lets_pass(of); },
                           std::ref(member));
}
Task<Timeline> one_error_many_ways() {
  Timeline timeline;
  try {
    co_await with_task_group(fails_for_all);
  } catch (const std::runtime_error& error) {
    timeline.push_back(error.what());
    timeline.push_back(std::to_string(attached_errors().size()));
  }
  co_return timeline;
}

TEST_CASE("attached_errors: an error that comes to the group by several ways is one") {
  CHECK(result_of(one_error_many_ways()) == Timeline{"member", "0"});
}

Task<> leaves_the_run() { co_await with_task_group(four_fail); }

TEST_CASE("attached_errors: of the error that leaves run, from the executor") {
  Executor executor(virtual_time);
  executor.submit(leaves_the_run());
  Timeline timeline;
  try {
    executor.run();
  } catch (const std::runtime_error& error) {
    timeline.push_back(error.what());
    for (const std::exception_ptr& other : executor.attached_errors()) timeline.push_back(text_of(other));
  }
  CHECK(timeline == Timeline{"a", "body", "b", "c"});
}

Task<> fails_often(int times) {
  for (int i = 0; i < times; ++i) {
    try {
      co_await with_task_group(four_fail);
    } catch (const std::runtime_error&) {
    }
  }
}

TEST_CASE("AttachedErrors: those of the latest 64 errors are kept") {
  AttachedErrors store;
  std::vector<std::exception_ptr> errors;
  for (int i = 0; i < 65; ++i) {
    errors.push_back(std::make_exception_ptr(i));
    store.attach(errors.back(), {std::make_exception_ptr(-i)});
  }
  CHECK(store.of(errors[0]).empty());
  CHECK(store.of(errors[1]).size() == 1);
  CHECK(store.of(errors[64]).size() == 1);
  result_of(fails_often(100));
}

Task<> swallows_everything(TaskGroup& group, Timeline& timeline) {
  group.submit([](Timeline& line) -> Task<> {
    for (int i = 0; i < 3; ++i) {
      try {
        co_await Sleep(1ms);
      } catch (...) {
        line.push_back(at_now("swallowed"));
      }
    }
  }(timeline));
  for (int i = 0; i < 3; ++i) {
    try {
      co_await Sleep(1h);
    } catch (...) {
      timeline.push_back(at_now("body swallowed"));
    }
  }
}
Task<> limits_it(Timeline& timeline) {
  const bool done = co_await try_timeout(0ms, with_task_group(swallows_everything, std::ref(timeline)));
  timeline.push_back(done ? "done" : "timed out");
  co_await Sleep(1ms);
  timeline.push_back(at_now("after"));
}

TEST_CASE("Cancel: a catch-all in user code does not wear it out") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(limits_it(timeline));
  executor.run();
  CHECK(timeline == Timeline{"body swallowed@0", "body swallowed@0", "body swallowed@0", "swallowed@0",
                             "swallowed@0", "swallowed@0", "done", "after@1"});
}

}  // namespace
