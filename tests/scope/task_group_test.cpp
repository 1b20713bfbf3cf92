#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "../executor/timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::AtExit;
using bide::test::result_of;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> nothing() { co_return; }
Task<int> gives(int value, Duration after) {
  co_await Sleep(after);
  co_return value;
}
Task<> says(Timeline& timeline, const char* word, Duration after) {
  co_await Sleep(after);
  timeline.push_back(at_now(word));
}
Task<> sleeps_until_cancelled(Timeline& timeline, const char* name) {
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    timeline.push_back(at_now(std::string(name) + " cancelled"));
    throw;
  }
}
Task<> fails(const char* what, Duration after) {
  co_await Sleep(after);
  throw std::runtime_error(what);
}

Task<int> submits_three(TaskGroup& group, Timeline& timeline, int value) {
  group.submit(says(timeline, "b", 3ms));
  group.submit({}, says, std::ref(timeline), "a", 1ms);
  Task<> third = says(timeline, "c", 2ms);
  group.try_submit(third);
  timeline.push_back("members " + std::to_string(group.size()));
  co_await Sleep(2ms);
  timeline.push_back("members " + std::to_string(group.size()));
  co_return value;
}
Task<Timeline> runs_three() {
  Timeline timeline;
  const int value = co_await with_task_group(submits_three, std::ref(timeline), 5);
  timeline.push_back(at_now(std::to_string(value)));
  co_return timeline;
}

TEST_CASE("with_task_group: returns what the body returned, when all members have ended") {
  CHECK(result_of(runs_three()) == Timeline{"members 3", "a@1", "members 2", "c@2", "b@3", "5@3"});
}

Task<> empty(TaskGroup&) { co_return; }
Task<> children_end_first(TaskGroup& group) {
  for (int i = 0; i < 3; ++i) group.submit(nothing());
  co_await Yield();
}
Task<> runs_empty_groups(std::uint64_t& resumes) {
  co_await with_task_group(empty);
  resumes = Executor::current().report().resumes;
  co_await with_task_group(children_end_first);
}

// G1: libcoro #451, waiting for a group without children never returned.
TEST_CASE("with_task_group: without members, or when all have ended already, no turn is lost") {
  std::uint64_t resumes = 0;
  Executor executor(virtual_time);
  executor.submit(runs_empty_groups(resumes));
  const RunReport report = executor.run();
  CHECK(resumes == 1);
  CHECK(report.resumes == 1 + 3 + 1);  // the children, and the body after its Yield
}

Task<> one_of_three_fails(TaskGroup& group, Timeline& timeline) {
  group.submit(sleeps_until_cancelled(timeline, "first"));
  group.submit(fails("second", 2ms));
  group.submit(sleeps_until_cancelled(timeline, "third"));
  co_await sleeps_until_cancelled(timeline, "body");
}
Task<Timeline> a_member_fails() {
  Timeline timeline;
  try {
    co_await with_task_group(one_of_three_fails, std::ref(timeline));
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(error.what()));
  }
  co_await Yield();
  co_return timeline;
}

TEST_CASE("with_task_group: the first error cancels body and siblings, and is thrown when all have ended") {
  CHECK(result_of(a_member_fails()) ==
        Timeline{"body cancelled@2", "first cancelled@2", "third cancelled@2", "second@2"});
}

Task<> body_fails(TaskGroup& group, Timeline& timeline) {
  group.submit(sleeps_until_cancelled(timeline, "member"));
  co_await fails("body", 1ms);
}
Task<Timeline> the_body_fails() {
  Timeline timeline;
  try {
    co_await with_task_group(body_fails, std::ref(timeline));
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(error.what()));
  }
  co_return timeline;
}

TEST_CASE("with_task_group: an error of the body counts like one of a member") {
  CHECK(result_of(the_body_fails()) == Timeline{"member cancelled@1", "body@1"});
}

Task<> joins_a_failing_member(TaskGroup& group, Timeline& timeline) {
  Handle<> handle = group.submit(fails("member", 1ms));
  try {
    co_await handle;
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(std::string("handle: ") + error.what()));
  }
  try {
    co_await Sleep(1ms);
  } catch (const Cancelled&) {
    timeline.push_back(at_now("the next wait"));
  }
}
Task<Timeline> a_member_is_joined() {
  Timeline timeline;
  try {
    co_await with_task_group(joins_a_failing_member, std::ref(timeline));
  } catch (const std::runtime_error& error) {
    timeline.push_back(at_now(std::string("group: ") + error.what()));
    timeline.push_back(std::to_string(attached_errors().size()) + " attached");
  }
  co_return timeline;
}

TEST_CASE("TaskGroup: the error of a member reaches whoever awaits its Handle, and the group too, once") {
  CHECK(result_of(a_member_is_joined()) ==
        Timeline{"handle: member@1", "the next wait@1", "group: member@1", "0 attached"});
}

Task<> grows(TaskGroup& group, int more, Timeline& timeline) {
  co_await Sleep(1ms);
  timeline.push_back(at_now(std::to_string(more)));
  if (more > 0) group.submit(grows(group, more - 1, timeline));
}
Task<> starts_growth(TaskGroup& group, Timeline& timeline) {
  group.submit(grows(group, 2, timeline));
  co_return;
}
Task<Timeline> members_submit_members() {
  Timeline timeline;
  co_await with_task_group(starts_growth, std::ref(timeline));
  timeline.push_back(at_now("all"));
  co_return timeline;
}

TEST_CASE("TaskGroup: members submit members, also after the body has ended") {
  CHECK(result_of(members_submit_members()) == Timeline{"2@1", "1@2", "0@3", "all@3"});
}

Task<> cancels_its_group(TaskGroup& group, Timeline& timeline) {
  group.submit(sleeps_until_cancelled(timeline, "member"));
  co_await Sleep(1ms);
  group.cancel();
  group.cancel();
  timeline.push_back(group.cancelled() ? "cancelled" : "not cancelled");
  group.submit(sleeps_until_cancelled(timeline, "late member"));
  co_await sleeps_until_cancelled(timeline, "body");
}
Task<Timeline> a_group_is_cancelled() {
  Timeline timeline;
  co_await with_task_group(cancels_its_group, std::ref(timeline));
  timeline.push_back(at_now("out"));
  co_await Sleep(1ms);
  timeline.push_back(at_now("goes on"));
  co_return timeline;
}

TEST_CASE("TaskGroup: cancel ends body and members, those to come too, and the group returns as usual") {
  CHECK(result_of(a_group_is_cancelled()) == Timeline{"cancelled", "body cancelled@1", "member cancelled@1",
                                                      "late member cancelled@1", "out@1", "goes on@2"});
}

Task<int> cancelled_before_its_value(TaskGroup& group) {
  group.cancel();
  co_await Yield();
  co_return 1;
}
Task<int> cancelled_with_a_value(TaskGroup& group) {
  group.submit(gives(1, 1h));
  group.cancel();
  co_return 2;
}
Task<Timeline> values_of_cancelled_groups() {
  Timeline timeline;
  try {
    co_await with_task_group(cancelled_before_its_value);
  } catch (const Cancelled&) {
    timeline.push_back("no value");
  }
  timeline.push_back(std::to_string(co_await with_task_group(cancelled_with_a_value)));
  co_return timeline;
}

TEST_CASE("TaskGroup: after its own cancel the value is given if there is one, else Cancelled is thrown") {
  CHECK(result_of(values_of_cancelled_groups()) == Timeline{"no value", "2"});
}

Task<> stops_itself(TaskGroup& group, Timeline& timeline) {
  group.submit(sleeps_until_cancelled(timeline, "member"));
  co_await Sleep(1ms);
  throw Cancelled();
}
Task<Timeline> a_body_stops_itself() {
  Timeline timeline;
  try {
    co_await with_task_group(stops_itself, std::ref(timeline));
  } catch (const Cancelled&) {
    timeline.push_back(at_now("out"));
  }
  co_await Yield();
  co_return timeline;
}

TEST_CASE("with_task_group: a body that ends by a cancel of its own cancels the members, and it is thrown") {
  CHECK(result_of(a_body_stops_itself()) == Timeline{"member cancelled@1", "out@1"});
}

Task<int> has_its_value_early(TaskGroup& group, Duration work) {
  group.submit(gives(1, work));
  co_return 7;
}
Task<> is_cut_short(Timeline& timeline, Duration work) {
  try {
    timeline.push_back(std::to_string(co_await with_task_group(has_its_value_early, work)));
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cut short"));
    throw;
  }
  co_await Yield();
  timeline.push_back("not reached");
}

TEST_CASE("with_task_group: a cancel from around that ends members is not hidden by the body's value") {
  for (const Duration work : {5ms, 6ms}) {
    Timeline timeline;
    Executor executor(virtual_time);
    Handle<> handle = executor.submit(is_cut_short(timeline, work));
    executor.submit([](Handle<>& other) -> Task<> {
      co_await Sleep(5ms);
      other.cancel();
    }(handle));
    executor.run();
    CHECK_THROWS_AS(handle.take(), Cancelled);
    // At 5 the canceller's sleep was armed before that of the member, which has ended all the same.
    CHECK(timeline == (work == 5ms ? Timeline{"7"} : Timeline{"cut short@5"}));
  }
}

Task<> submits_five(TaskGroup& group, Timeline& timeline) {
  for (int i = 0; i < 5; ++i) group.submit(sleeps_until_cancelled(timeline, "member"));
  co_return;
}
Task<> overfills(Timeline& timeline) {
  try {
    co_await with_task_group(submits_five, std::ref(timeline));
  } catch (const QueueFull&) {
    timeline.push_back(at_now("full"));
  }
  timeline.push_back("alive " + std::to_string(Executor::current().size()));
}

// G4: Photon #1252, creation of child k failed, and the join touched children that were never made.
TEST_CASE("TaskGroup: QueueFull out of the body cancels those that were let in, and arrives") {
  Timeline timeline;
  Executor executor({.time = TimeMode::virtual_time, .capacity = 4});
  executor.submit(overfills(timeline));
  executor.run();
  CHECK(timeline ==
        Timeline{"member cancelled@0", "member cancelled@0", "member cancelled@0", "full@0", "alive 1"});
}

Task<int> not_a_coroutine(TaskGroup& group) {
  group.submit(gives(1, 1ms));
  throw std::runtime_error("no body");
}
Task<std::string> a_body_that_throws() {
  std::string text;
  try {
    co_await with_task_group(not_a_coroutine);
  } catch (const std::runtime_error& error) {
    text = at_now(error.what());
  }
  co_return text;
}

TEST_CASE("with_task_group: a body that throws before it is a task fails the group too") {
  CHECK(result_of(a_body_that_throws()) == "no body@0");
}

Task<> many_in_turn(TaskGroup& group, int count) {
  for (int i = 0; i < count; ++i) {
    Handle<> handle = group.submit(nothing());
    co_await handle;
  }
}
Task<> long_lived_group() { co_await with_task_group(many_in_turn, 100'000); }

TEST_CASE("TaskGroup: a long-lived group keeps nothing of members that have ended") {
  result_of(long_lived_group());
  const std::size_t kept = frame_pool.kept_bytes();
  result_of(long_lived_group());
  CHECK(frame_pool.kept_bytes() == kept);
}

Task<> yields(Timeline& timeline, const char* name, int times) {
  for (; times > 0; --times) co_await Yield();
  timeline.push_back(name);
}
Task<> has_a_low_member(TaskGroup& group, Timeline& timeline, bool joins_late) {
  group.submit(yields(timeline, "low member", 3), {.priority = Priority::low});
  if (joins_late) {
    group.submit([](TaskGroup& of, Timeline& line) -> Task<> {
      of.submit(yields(line, "late low member", 3), {.priority = Priority::low});
      co_return;
    }(group, timeline));
  }
  co_return;
}
Task<> waits_for_low(Timeline& timeline, bool joins_late) {
  co_await with_task_group(has_a_low_member, std::ref(timeline), joins_late);
  timeline.push_back("high");
}

TEST_CASE("with_task_group: members run at the rank of the thread that waits for them, late ones too") {
  for (const bool joins_late : {false, true}) {
    Timeline timeline;
    Executor executor(virtual_time);
    executor.submit(waits_for_low(timeline, joins_late), {.priority = Priority::high});
    executor.submit(yields(timeline, "normal", 100));
    executor.run();
    Timeline expected{"low member", "late low member", "high", "normal"};
    if (!joins_late) expected.erase(expected.begin() + 1);
    CHECK(timeline == expected);
  }
}

Task<> adds_at(TaskGroup*& group, Timeline& timeline) {
  co_await Sleep(5ms);
  timeline.push_back("members " + std::to_string(group->size()));
  group->submit(says(timeline, "late", 0ms), {.priority = Priority::critical});
  co_await Sleep(0ms);
}
Task<> lends_its_group(TaskGroup& group, TaskGroup*& lent) {
  lent = &group;
  group.submit(nothing());
  co_await Sleep(4ms);
  group.submit([]() -> Task<> { co_await Sleep(1ms); }(), {.priority = Priority::critical});
}
Task<> waits_at_low(TaskGroup*& lent, Timeline& timeline) {
  co_await with_task_group(lends_its_group, std::ref(lent));
  timeline.push_back(at_now("out"));
}

TEST_CASE("with_task_group: waits for members that join after the last one has ended, before it goes on") {
  Timeline timeline;
  TaskGroup* lent = nullptr;
  Executor executor(virtual_time);
  executor.submit(waits_at_low(lent, timeline), {.priority = Priority::low});
  executor.submit(adds_at(lent, timeline));
  executor.run();
  CHECK(timeline == Timeline{"members 0", "late@5", "out@5"});
}

}  // namespace
