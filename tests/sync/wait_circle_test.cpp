#include <catch2/catch.hpp>

#include <optional>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/tests/executor/timeline.hpp>
#include <bide/tests/sync/told.hpp>

// Threads that wait for one another in a circle, through joins and mutexes, all at an inherited class. A cancel
// takes one of them out: the change of rank runs once around and must find what is being withdrawn gone already.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::tells_end;
using bide::test::Timeline;
using bide::test::virtual_time;

// A holds the mutex and waits for B, which waits for the mutex or for A; C, of a higher class, waits for it too.
struct Circle {
  Timeline timeline;
  Mutex mutex{"held by a"};
  Executor executor{virtual_time};
  std::optional<Handle<>> a, b, c;

  Task<> lock() { const Mutex::Guard guard = co_await mutex.lock(); }
  Task<> join_holding(std::optional<Handle<>>& other) {
    const Mutex::Guard guard = co_await mutex.lock();
    co_await Yield();
    co_await *other;
  }

  template <class WaitOfA, class WaitOfB>
  void close(WaitOfA wait_of_a, WaitOfB wait_of_b) {
    constexpr SubmitOptions low{.priority = Priority::low};
    a.emplace(executor.submit(tells_end(timeline, "a", wait_of_a), low));
    b.emplace(executor.submit(tells_end(timeline, "b", wait_of_b), low));
    executor.run_for(1ms);
    c.emplace(executor.submit(tells_end(timeline, "c", [this] { return lock(); }),
                              {.priority = Priority::critical}));
    executor.run_for(1ms);
    CHECK(ranks() == Timeline{"critical", "critical", "critical"});
  }
  Timeline ranks() const {
    Timeline all;
    for (const ThreadReport& thread : executor.report().unfinished) all.emplace_back(to_string(thread.rank));
    return all;
  }
};

}  // namespace

TEST_CASE("Inheritance: a circle of a join and a mutex opens at the join, with the ranks that are left") {
  Circle circle;
  circle.close([&] { return circle.join_holding(circle.b); }, [&] { return circle.lock(); });
  SECTION("while the critical thread waits") {
    circle.a->cancel();
    circle.executor.run();
    CHECK(circle.timeline == Timeline{"a cancelled@2", "c@2", "b@2"});
  }
  SECTION("after it has gone: those in the circle have kept its rank between them") {
    circle.c->cancel();
    circle.executor.run_for(1ms);
    CHECK(circle.ranks() == Timeline{"critical", "critical"});
    circle.a->cancel();
    CHECK(circle.ranks() == Timeline{"low", "low"});
    circle.executor.run();
    CHECK(circle.timeline == Timeline{"c cancelled@2", "a cancelled@3", "b@3"});
  }
  SECTION("at the mutex") {
    circle.b->cancel();
    circle.executor.run();
    CHECK(circle.timeline == Timeline{"b cancelled@2", "a cancelled@2", "c@2"});
  }
  CHECK(!circle.mutex.locked());
}

TEST_CASE("Inheritance: a circle of two joins opens at either, with the ranks that are left") {
  Circle circle;
  circle.close([&] { return circle.join_holding(circle.b); }, [&]() -> Task<> { co_await *circle.a; });
  const bool critical_goes_first = GENERATE(true, false);
  const bool cancel_a = GENERATE(true, false);
  if (critical_goes_first) {
    circle.c->cancel();
    circle.executor.run_for(1ms);
    CHECK(circle.ranks() == Timeline{"critical", "critical"});
  }
  (cancel_a ? circle.a : circle.b)->cancel();
  circle.executor.run();
  const Timeline ends(circle.timeline.end() - 2, circle.timeline.end());
  CHECK(circle.timeline.size() == 3);
  CHECK(circle.executor.size() == 0);
  CHECK(!circle.mutex.locked());
}

TEST_CASE("Inheritance: a circle through a select opens when another arm succeeds") {
  Circle circle;
  circle.close(
      [&]() -> Task<> {
        const Mutex::Guard guard = co_await circle.mutex.lock();
        co_await Yield();
        const auto first = co_await select(Sleep(1s), joining(*circle.b));
        circle.timeline.push_back(first.index == 0 ? "slept" : "joined");
      },
      [&] { return circle.lock(); });
  circle.c->cancel();
  circle.executor.run();
  CHECK(circle.timeline == Timeline{"c cancelled@2", "slept", "a@1000", "b@1000"});
}

TEST_CASE("Inheritance: an executor destroys a circle in which all have inherited") {
  const bool through_mutex = GENERATE(true, false);
  Circle circle;
  const auto join_a = [&]() -> Task<> { co_await *circle.a; };
  if (through_mutex) {
    circle.close([&] { return circle.join_holding(circle.b); }, [&] { return circle.lock(); });
  } else {
    circle.close([&] { return circle.join_holding(circle.b); }, join_a);
  }
  CHECK_THROWS_AS(circle.executor.run(), Deadlock);
}
