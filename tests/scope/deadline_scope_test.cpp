#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <string>

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

Task<> yields(Timeline& timeline, const char* name, int times) {
  for (; times > 0; --times) {
    timeline.push_back(name);
    co_await Yield();
  }
}

// The latest start of the running thread, in milliseconds; -1: none.
std::int64_t latest_start() {
  const Urgency* urgency = running.thread->urgency;
  if (urgency == nullptr || urgency->latest_start == Urgency::none) return -1;
  return std::chrono::duration_cast<std::chrono::milliseconds>(urgency->latest_start).count();
}
Task<std::int64_t> tells_its_latest_start() {
  co_await Yield();
  co_return latest_start();
}

Task<Timeline> ends_by_its_deadline() {
  Timeline timeline;
  timeline.push_back(std::to_string(co_await deadline(Instant(5ms), []() -> Task<int> { co_return 3; }())));
  try {
    co_await deadline(Instant(5ms), Sleep(1h));
  } catch (const TimedOut& error) {
    timeline.push_back(at_now(std::string(error.what()).substr(0, 29)));
  }
  try {
    co_await deadline(Instant(5ms), Yield());
  } catch (const TimedOut&) {
    timeline.push_back(at_now("too late"));
  }
  co_return timeline;
}

TEST_CASE("deadline: is a limit up to an instant, and TimedOut names it") {
  CHECK(result_of(ends_by_its_deadline()) == Timeline{"3", "the deadline 5 ms has passed @5", "too late@5"});
}

Task<> hurries(Timeline& timeline) {
  timeline.push_back("low");
  co_await deadline(Instant(1s), yields(timeline, "hurried low", 2));
  co_await yields(timeline, "low", 1);
}

TEST_CASE("deadline: inside, a thread runs at its urgency; outside, at its own class again") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(hurries(timeline), {.priority = Priority::low});
  executor.run_one();  // it has begun, and is in its deadline scope
  executor.submit(yields(timeline, "normal", 2));
  executor.run();
  // Latest start is now, which is 5000 points; a normal thread has 100.
  CHECK(timeline == Timeline{"low", "hurried low", "hurried low", "low", "normal", "normal"});
}

Task<> low_after_hurry(Timeline& timeline) {
  co_await deadline(Instant(1s), yields(timeline, "hurried low", 2));
  co_await Yield();
  timeline.push_back("low");
}

TEST_CASE("deadline: the next turn after it is one of the thread's own class") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(low_after_hurry(timeline), {.priority = Priority::low});
  executor.run_one();
  executor.submit(yields(timeline, "normal", 2));
  executor.run();
  CHECK(timeline == Timeline{"hurried low", "hurried low", "normal", "normal", "low"});
}

Task<Timeline> latest_starts() {
  Timeline timeline;
  const auto note = [&timeline](std::int64_t start) { timeline.push_back(std::to_string(start)); };
  note(latest_start());
  note(co_await deadline(Instant(9s), tells_its_latest_start()));
  note(co_await deadline(Instant(9s), tells_its_latest_start(), 3s));  // the estimate
  note(co_await deadline(Instant(9s), deadline(Instant(7s), tells_its_latest_start())));
  note(co_await deadline(Instant(7s), deadline(Instant(9s), tells_its_latest_start())));
  note(co_await timeout(2s, tells_its_latest_start()));
  note(co_await deadline(Instant::max(), tells_its_latest_start()));
  note(latest_start());
  co_return timeline;
}

TEST_CASE("deadline: the earliest one around counts, by its latest start") {
  CHECK(result_of(latest_starts()) == Timeline{"-1", "8000", "6000", "6000", "6000", "-1", "-1", "-1"});
}

TEST_CASE("deadline: a thread that was submitted with an earlier one keeps it") {
  for (const Duration own : {3s, 30s}) {
    Executor executor(virtual_time);
    Handle<std::int64_t> handle = executor.submit({.deadline = Instant(own)}, []() -> Task<std::int64_t> {
      co_return co_await deadline(Instant(9s), tells_its_latest_start());
    });
    executor.run();
    CHECK(handle.take() == (own == 3s ? 2000 : 8000));
  }
}

Task<std::int64_t> of_a_member(TaskGroup& group, SubmitOptions options) {
  Handle<std::int64_t> member = group.submit(tells_its_latest_start(), options);
  co_return co_await member;
}
// The body does not wait for the member while that looks: it has its urgency from the group's place alone.
Task<std::int64_t> starts(TaskGroup& group) {
  std::int64_t seen = 0;
  group.submit([](std::int64_t& start) -> Task<> { start = co_await tells_its_latest_start(); }(seen));
  co_await Sleep(1ms);
  co_return seen;
}
Task<Timeline> members() {
  Timeline timeline;
  const auto note = [&timeline](std::int64_t start) { timeline.push_back(std::to_string(start)); };
  const SubmitOptions none;
  const SubmitOptions early{.deadline = Instant(2s)};
  note(co_await deadline(Instant(9s), with_task_group(of_a_member, none)));
  note(co_await deadline(Instant(9s), with_task_group(of_a_member, early)));
  note(co_await deadline(Instant(9s), with_task_group(starts)));
  auto [a, b] = co_await deadline(Instant(9s), when_all(tells_its_latest_start(), with_task_group(starts)));
  note(a);
  note(b);
  note(co_await with_task_group(of_a_member, none));
  co_return timeline;
}

TEST_CASE("deadline: members of groups inside run at its urgency, in groups of groups too") {
  CHECK(result_of(members()) == Timeline{"8000", "1000", "8000", "8000", "8000", "-1"});
}

Task<> waits_in_everything(TaskGroup& group) {
  group.submit([]() -> Task<> { co_await Sleep(1h); }());
  co_await deadline(Instant(2h), timeout(2h, Sleep(1h)));
}
Task<> has_scopes_in_its_root_frame() {
  co_await deadline(Instant(2h), timeout(2h, with_task_group(waits_in_everything)));
}

TEST_CASE("deadline: an executor destroys threads that are suspended inside one, in the root frame too") {
  Executor executor(virtual_time);
  executor.submit(has_scopes_in_its_root_frame());
  executor.submit([]() -> Task<> { co_await deadline(Instant(2h), Sleep(1h)); }(), {.deadline = Instant(3h)});
  executor.run_for(1ms);
  CHECK(executor.size() == 3);
}

}  // namespace
