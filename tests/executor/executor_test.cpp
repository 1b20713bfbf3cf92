#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "death.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::ms;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> say(Timeline& timeline, std::string what) {
  timeline.push_back(what);
  co_return;
}
Task<> sleep_and_say(Timeline& timeline, std::string what, Duration duration) {
  co_await Sleep(duration);
  timeline.push_back(at_now(what));
}
Task<> turns(Timeline& timeline, std::string what, int count) {
  for (int i = 1; i <= count; ++i) {
    timeline.push_back(what + std::to_string(i));
    if (i < count) co_await Yield();
  }
}

TEST_CASE("Executor: threads run in the order of their submits, and take turns at each Yield") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(turns(timeline, "a", 3));
  executor.submit(turns(timeline, "b", 1));
  executor.submit(turns(timeline, "c", 2));
  CHECK(timeline.empty());
  CHECK(executor.size() == 3);
  const RunReport report = executor.run();
  CHECK(timeline == Timeline{"a1", "b1", "c1", "a2", "c2", "a3"});
  CHECK(report.resumes == 6);
  CHECK(report.ticks == 0);
  CHECK(report.now == Instant());
  CHECK(report.unfinished.empty());
  CHECK(report.errors.empty());
  CHECK_FALSE(report.digest.has_value());
  CHECK(executor.size() == 0);
}

TEST_CASE("Executor: a run of nothing ends at once") {
  Executor executor(virtual_time);
  CHECK(executor.run().resumes == 0);
  CHECK_FALSE(executor.run_one());
  Executor real;
  CHECK(real.run().resumes == 0);
  CHECK_FALSE(real.run_one());
}

TEST_CASE("Executor: runs again, and its clock, counts and ids go on") {
  Timeline timeline;
  Executor executor(virtual_time);
  CHECK(executor.submit(sleep_and_say(timeline, "first", 5ms)).id() == 1);
  executor.run();
  CHECK(executor.submit(sleep_and_say(timeline, "second", 2ms)).id() == 2);
  CHECK(executor.submit(say(timeline, "third")).id() == 3);
  const RunReport report = executor.run();
  CHECK(timeline == Timeline{"first@5", "third", "second@7"});
  CHECK(report.resumes == 5);
  CHECK(report.ticks == 2);
  CHECK(ms(report.now) == 7);
}

Task<> submits_children(Timeline& timeline, std::vector<std::uint64_t>& ids) {
  ids.push_back(submit(say(timeline, "child")).id());
  ids.push_back(submit(
                    {}, [&timeline](std::string what) { return say(timeline, what); }, std::string("called"))
                    .id());
  ids.push_back(Executor::current().submit(say(timeline, "third")).id());
  timeline.push_back("parent");
  co_return;
}

TEST_CASE("Executor: a thread submits others, which run behind all that is ready") {
  Timeline timeline;
  std::vector<std::uint64_t> ids;
  Executor executor(virtual_time);
  executor.submit(submits_children(timeline, ids));
  executor.submit(say(timeline, "second"));
  executor.run();
  CHECK(timeline == Timeline{"parent", "second", "child", "called", "third"});
  CHECK(ids == std::vector<std::uint64_t>{3, 4, 5});
}

TEST_CASE("Executor: a submitted function keeps its captures and arguments as long as the thread lives") {
  Timeline timeline;
  int alive = 0;
  Executor executor(virtual_time);
  {
    const std::string captured = "a capture that is too long for a small string";
    executor.submit(
        {.name = "lambda"},
        [&timeline, captured](std::string argument, test::Counted) -> Task<> {
          co_await Sleep(1ms);
          timeline.push_back(captured + ", " + argument);
        },
        std::string("an argument that is too long for a small string"), test::Counted(alive));
  }
  executor.run_for(0ms);
  CHECK(alive > 0);
  executor.run();
  CHECK(alive == 0);
  CHECK(timeline == Timeline{"a capture that is too long for a small string, "
                             "an argument that is too long for a small string"});
}

TEST_CASE("Executor: run_until runs what is due up to and including the instant, and sets the clock to it") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(sleep_and_say(timeline, "five", 5ms));
  executor.submit(sleep_and_say(timeline, "ten", 10ms));
  executor.submit(sleep_and_say(timeline, "eleven", 11ms));
  RunReport report = executor.run_until(Instant(10ms));
  CHECK(timeline == Timeline{"five@5", "ten@10"});
  CHECK(report.ticks == 2);  // the jump to 10 is one tick, whoever asked for it
  REQUIRE(report.unfinished.size() == 1);
  CHECK(report.unfinished[0].id == 3);
  CHECK(report.unfinished[0].state == "sleeps until 11 ms");
  report = executor.run_until(Instant(3ms));  // an instant that has passed: what is ready, no more
  CHECK(ms(report.now) == 10);
  CHECK(report.ticks == 2);
  report = executor.run_for(500us);
  CHECK(report.now == Instant(10'500us));
  CHECK(report.ticks == 3);
  executor.run();
  CHECK(timeline.back() == "eleven@11");
}

// tokio #3710: asking for 10 ms of virtual time went on to the next timer at 1 s.
TEST_CASE("Executor: run_for moves time by what was asked, not to the next sleeper") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(sleep_and_say(timeline, "woke", 1s));
  for (int i = 1; i <= 5; ++i) {
    executor.run_for(10ms);
    CHECK(ms(executor.now()) == 10 * i);
  }
  CHECK(timeline.empty());
  CHECK(executor.ticks() == 5);
  executor.run();
  CHECK(timeline == Timeline{"woke@1000"});
}

TEST_CASE("Executor: run_for on an executor without threads moves its clock") {
  Executor executor(virtual_time);
  executor.run_for(3s);
  CHECK(executor.now() == Instant(3s));
  CHECK(executor.ticks() == 1);
  executor.run_for(0s);
  executor.run_for(-1s);
  CHECK(executor.now() == Instant(3s));
  CHECK(executor.ticks() == 1);
}

TEST_CASE("Executor: run_one gives one turn, after moving time if nothing is ready") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(sleep_and_say(timeline, "a", 4ms));
  executor.submit(sleep_and_say(timeline, "b", 4ms));
  CHECK(executor.run_one());
  CHECK(executor.run_one());
  CHECK(executor.ticks() == 0);
  CHECK(executor.run_one());
  CHECK(timeline == Timeline{"a@4"});
  CHECK(executor.run_one());
  CHECK(timeline == Timeline{"a@4", "b@4"});
  CHECK_FALSE(executor.run_one());
  CHECK(executor.ticks() == 1);
}

// turmoil #17: the run was over when the last-registered client was, not all.
TEST_CASE("Executor: a run ends with the last thread, whatever the order of the submits") {
  std::array<int, 3> seconds{1, 2, 3};
  do {
    Timeline timeline;
    Executor executor(virtual_time);
    for (const int s : seconds) executor.submit(sleep_and_say(timeline, "end", s * 1s));
    CHECK(executor.run().now == Instant(3s));
    CHECK(timeline == Timeline{"end@1000", "end@2000", "end@3000"});
  } while (std::next_permutation(seconds.begin(), seconds.end()));
}

Task<> runs_another(Timeline& timeline) {
  co_await Sleep(3ms);
  timeline.push_back(at_now("outer"));
  {
    Executor inner(virtual_time);
    inner.submit(sleep_and_say(timeline, "inner", 100ms));
    Executor* const outer = &Executor::current();
    inner.run();
    timeline.push_back(outer == &Executor::current() ? "back in outer" : "lost");
  }
  co_await Sleep(1ms);
  timeline.push_back(at_now("outer"));
}

TEST_CASE("Executor: another one runs inside of a thread, with a clock of its own") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(runs_another(timeline));
  executor.submit(sleep_and_say(timeline, "second", 4ms));
  executor.run();
  CHECK(timeline == Timeline{"outer@3", "inner@100", "back in outer", "second@4", "outer@4"});
}

Task<> runs_itself() {
  Executor::current().run();
  co_return;
}

TEST_CASE("Executor: running one from within its own run, or using none, ends the process with a message") {
  const test::Death recursive = test::death_of([] {
    Executor executor(virtual_time);
    executor.submit(runs_itself());
    executor.run();
  });
  CHECK(recursive.aborted);
  CHECK_THAT(recursive.said, Catch::Contains("run from within its own run"));
  const test::Death outside = test::death_of([] { Executor::current(); });
  CHECK(outside.aborted);
  CHECK_THAT(outside.said, Catch::Contains("no executor is running"));
}

}  // namespace
