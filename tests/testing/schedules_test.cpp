#include <catch2/catch.hpp>

#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include <bide/executor/testing/schedules.hpp>

using namespace bide;
using namespace bide::testing;

namespace {

Task<> note(std::string& trace, char name, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    if (turn > 0) co_await Yield();
    trace += name;
  }
}

struct Account {
  int balance = 100;
};

// Looks, then goes on without looking again: right only if nobody comes between.
Task<> withdraw(Account& account, int amount) {
  const bool enough = account.balance >= amount;
  co_await Yield();
  if (enough) account.balance -= amount;
}

void two_withdrawals(Executor& executor) {
  Account account;
  executor.submit(withdraw(account, 80));
  executor.submit(withdraw(account, 80));
  executor.run();
  if (account.balance < 0) throw std::runtime_error("overdrawn");
}

// Fails only when the second thread runs to its end before the first has begun.
void reader_before_writer(Executor& executor) {
  bool written = false;
  bool failed = false;
  executor.submit(
      {},
      [](bool& done) -> Task<> {
        done = true;
        co_return;
      },
      std::ref(written));
  executor.submit(
      {},
      [](bool& done, bool& wrong) -> Task<> {
        if (!done) wrong = true;
        co_return;
      },
      std::ref(written), std::ref(failed));
  executor.run();
  if (failed) throw std::runtime_error("read before it was written");
}

}  // namespace

TEST_CASE("for_each_schedule: every order of three equal threads, each once") {
  std::multiset<std::string> traces;
  const ScheduleReport report = for_each_schedule([&](Executor& executor) {
    std::string trace;
    for (const char name : {'a', 'b', 'c'}) executor.submit(note(trace, name, 1));
    executor.run();
    traces.insert(trace);
  });
  CHECK(report.complete);
  CHECK(report.schedules == 6);
  CHECK(traces == std::multiset<std::string>{"abc", "acb", "bac", "bca", "cab", "cba"});
  CHECK(report.text() == "6 schedules, all there are; none failed");
}

TEST_CASE("for_each_schedule: interleaves turns; two threads of two turns have six orders") {
  std::multiset<std::string> traces;
  const ScheduleReport report = for_each_schedule([&](Executor& executor) {
    std::string trace;
    for (const char name : {'a', 'b'}) executor.submit(note(trace, name, 2));
    executor.run();
    traces.insert(trace);
  });
  CHECK(report.complete);
  CHECK(traces == std::multiset<std::string>{"aabb", "abab", "abba", "baab", "baba", "bbaa"});
}

TEST_CASE("for_each_schedule: classes keep their order, and so do different instants") {
  std::set<std::string> traces;
  const auto sleeper = [](std::string& trace, char name, Duration pause) -> Task<> {
    co_await Sleep(pause);
    trace += name;
  };
  for_each_schedule([&](Executor& executor) {
    std::string trace;
    executor.submit(note(trace, 'n', 1));
    executor.submit(note(trace, 'h', 1), {.priority = Priority::high});
    executor.submit({}, sleeper, std::ref(trace), 'x', std::chrono::seconds(1));
    executor.submit({}, sleeper, std::ref(trace), 'y', std::chrono::seconds(2));
    executor.run();
    traces.insert(trace);
  });
  CHECK(traces == std::set<std::string>{"hnxy"});
}

TEST_CASE("for_each_schedule: finds what first come first served hides, and replays it") {
  const ScheduleReport report = for_each_schedule(reader_before_writer);
  CHECK(report.schedules == 2);
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures[0].replay == "1");
  CHECK(report.text() ==
        "2 schedules, all there are; 1 failed\n"
        "  replay_schedule(\"1\", scenario): read before it was written");
  CHECK_THROWS_WITH(replay_schedule("1", reader_before_writer), "read before it was written");
  CHECK_NOTHROW(replay_schedule("", reader_before_writer));
}

TEST_CASE("for_each_schedule: stops at the bound and says that there are more") {
  const ScheduleReport report = for_each_schedule(
      [](Executor& executor) {
        std::string trace;
        for (char name = 'a'; name < 'h'; ++name) executor.submit(note(trace, name, 3));
        executor.run();
      },
      {.most = 50});
  CHECK(report.schedules == 50);
  CHECK_FALSE(report.complete);
  CHECK(report.text() == "50 schedules, of more; none failed");
}

TEST_CASE("for_each_schedule: a livelock and a deadlock are failures, not ends of the world") {
  const ScheduleReport report = for_each_schedule(
      [](Executor& executor) {
        executor.submit({}, []() -> Task<> {
          while (true) co_await Yield();
        });
        executor.run();
      },
      {.most = 1});
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures[0].what.substr(0, 8) == "livelock");
}

TEST_CASE("ScheduleReport: true when nothing failed, and printed as its text") {
  const ScheduleOptions silent{.print = ScheduleOptions::Print::no};
  const ScheduleReport good = for_each_schedule([](Executor&) {}, silent);
  CHECK(good);
  const ScheduleReport bad = for_each_schedule(reader_before_writer, silent);
  CHECK_FALSE(bad);
  std::ostringstream printed;
  printed << bad;
  CHECK(printed.str() == bad.text());
}

TEST_CASE("for_random_schedules: the same seed gives the same failures") {
  const ScheduleReport first = for_random_schedules(40, 7, two_withdrawals);
  const ScheduleReport again = for_random_schedules(40, 7, two_withdrawals);
  CHECK(first.schedules == 40);
  REQUIRE_FALSE(first.failures.empty());
  CHECK(first.text() == again.text());
  CHECK_THROWS_WITH(replay_schedule(first.failures[0].replay, two_withdrawals), "overdrawn");
}

TEST_CASE("replay_schedule: refuses what is no schedule, or another scenario's") {
  CHECK_THROWS_AS(replay_schedule("1,,2", two_withdrawals), std::invalid_argument);
  CHECK_THROWS_AS(replay_schedule("one", two_withdrawals), std::invalid_argument);
  CHECK_THROWS_AS(replay_schedule("1,", two_withdrawals), std::invalid_argument);
  CHECK_THROWS_AS(replay_schedule("9", two_withdrawals), std::invalid_argument);
}
