#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <bide/executor/scope/outcome.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_all.hpp>
#include <bide/executor/scope/when_any.hpp>

#include "../executor/timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::AtExit;
using bide::test::Counted;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<int> sleeps(Counted, Duration after) {
  co_await Sleep(after);
  co_return 1;
}
Task<> cleans_up(Counted counted) {
  bool cancelled = false;
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  if (cancelled) co_await shielded(sleeps(counted, 1h));
}
Task<> body(TaskGroup& group, int& alive) {
  group.submit(sleeps(Counted(alive), 1h));
  group.submit(cleans_up(Counted(alive)));
  group.submit(with_task_group(
      [](TaskGroup& inner, Counted counted) -> Task<> {
        inner.submit(sleeps(counted, 1h));
        co_await Sleep(1h);
      },
      Counted(alive)));
  co_return;
}
Task<> everything(int& alive) {
  static_cast<void>(co_await timeout(
      1h,
      deadline(Instant(2h), outcome(when_all(timeout(1h, shielded(sleeps(Counted(alive), 2h))),
                                             when_any(sleeps(Counted(alive), 2h), sleeps(Counted(alive), 2h)),
                                             when_all_settled(sleeps(Counted(alive), 2h)),
                                             with_task_group(body, std::ref(alive)))))));
}

TEST_CASE("Scopes: an executor destroys all that is suspended in them, at any moment, and once") {
  for (const bool stopped : {false, true}) {
    for (const Duration after : {Duration(0), Duration(30min), Duration(1h)}) {
      int alive = 0;
      {
        Executor executor(virtual_time);
        executor.submit(everything(alive));
        executor.run_for(after);
        if (stopped) {
          executor.stop();
          executor.run_for(1ms);
        }
        CHECK(alive > 0);
      }
      CHECK(alive == 0);
    }
  }
}

TEST_CASE("Scopes: an executor destroys what was submitted to a group and never ran") {
  int alive = 0;
  {
    Executor executor(virtual_time);
    executor.submit(everything(alive));
    executor.run_one();
    CHECK(alive > 0);
  }
  CHECK(alive == 0);
}

Task<> submits_in_its_destructor(TaskGroup& group, Timeline& timeline) {
  const AtExit at_exit([&group, &timeline] {
    try {
      group.submit([]() -> Task<> { co_return; }());
    } catch (const QueueFull&) {
      timeline.push_back("refused, members " + std::to_string(group.size()));
    }
    group.cancel();
  });
  group.submit([]() -> Task<> { co_await Sleep(1h); }());
  co_await Sleep(1h);
}
Task<> holds(Timeline& timeline) { co_await with_task_group(submits_in_its_destructor, std::ref(timeline)); }

TEST_CASE("TaskGroup: a destructor that submits to it while the executor goes is refused") {
  Timeline timeline;
  {
    Executor executor(virtual_time);
    executor.submit(holds(timeline));
    executor.run_for(1ms);
  }
  CHECK(timeline == Timeline{"refused, members 0"});
}

TEST_CASE("Scopes: combinators that are dropped before they are awaited destroy what they hold") {
  int alive = 0;
  Executor executor(virtual_time);
  executor.submit(
      {},
      [](int& counter) -> Task<> {
        {
          auto limited = timeout(1s, sleeps(Counted(counter), 1s));
          auto both = when_all(sleeps(Counted(counter), 1s), std::move(limited));
          auto moved = shielded(std::move(both));
          auto group = with_task_group(body, std::ref(counter));
        }
        co_return;
      },
      std::ref(alive));
  executor.run();
  CHECK(alive == 0);
}

}  // namespace
