#include <catch2/catch.hpp>

#include <deque>
#include <optional>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/tests/executor/timeline.hpp>
#include <bide/tests/sync/told.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::tells_at_next_wait;
using bide::test::Timeline;
using bide::test::virtual_time;

struct Shared {
  Mutex mutex;
  ConditionVariable changed{"changed"};
  int ready = 0;
  Timeline timeline;
};

Task<> takes_one(Shared& shared, const char* name) {
  Mutex::Guard guard = co_await shared.mutex.lock();
  try {
    co_await shared.changed.wait(guard, [&] { return shared.ready > 0; });
    --shared.ready;
    shared.timeline.push_back(at_now(name));
  } catch (const Cancelled&) {
    shared.timeline.push_back(std::string(name) + (guard ? " cancelled, locked" : " cancelled, not locked"));
    throw;
  }
}

Task<> waits_once(Shared& shared, const char* name) {
  Mutex::Guard guard = co_await shared.mutex.lock();
  co_await shared.changed.wait(guard);
  shared.timeline.push_back(at_now(name));
}

}  // namespace

TEST_CASE("ConditionVariable: unlocks while it waits, and has the mutex again when the predicate holds") {
  Executor executor(virtual_time);
  Shared shared;
  executor.submit(takes_one(shared, "a"));
  executor.submit(takes_one(shared, "b"));
  executor.submit({}, [&]() -> Task<> {
    for (int i = 0; i < 2; ++i) {
      co_await Sleep(5ms);
      const Mutex::Guard guard = co_await shared.mutex.lock();
      ++shared.ready;
      shared.changed.notify_all();
      shared.timeline.push_back(at_now("made"));
    }
  });
  executor.run();
  CHECK(shared.timeline == Timeline{"made@5", "a@5", "made@10", "b@10"});
  CHECK(!shared.mutex.locked());
}

TEST_CASE("ConditionVariable: with a predicate that holds it neither waits nor unlocks") {
  Executor executor(virtual_time);
  Shared shared;
  shared.ready = 1;
  executor.submit(takes_one(shared, "a"));
  executor.run();
  CHECK(shared.timeline == Timeline{"a@0"});
}

// S3: tokio #7965, a waiter that a broadcast had covered ate the single notification after it.
TEST_CASE("ConditionVariable: one that notify_all has covered does not use up a notify_one") {
  Executor executor(virtual_time);
  Shared shared;
  executor.submit(waits_once(shared, "w1"), {.priority = Priority::low});
  executor.run_for(1ms);
  executor.submit({}, [&]() -> Task<> {
    shared.changed.notify_all();
    submit(waits_once(shared, "w2"), {.priority = Priority::high});
    co_await Yield();
    shared.timeline.push_back(std::to_string(shared.changed.waiters()) + " waits");  // w1 has not run yet
    shared.changed.notify_one();
  });
  executor.run();
  CHECK(shared.timeline == Timeline{"1 waits", "w2@1", "w1@1"});
}

TEST_CASE("ConditionVariable: each notify_one of a turn is for another waiter, and one too many for none") {
  Executor executor(virtual_time);
  Shared shared;
  executor.submit(waits_once(shared, "w1"));
  executor.submit(waits_once(shared, "w2"));
  executor.run_for(1ms);
  for (int i = 0; i < 3; ++i) shared.changed.notify_one();
  executor.submit(waits_once(shared, "w3"));
  CHECK_THROWS_AS(executor.run(), Deadlock);
  CHECK(shared.timeline == Timeline{"w1@1", "w2@1"});
  shared.changed.notify_one();
  executor.run();
}

TEST_CASE(
    "ConditionVariable: a waiter that is cancelled has the mutex when Cancelled leaves, also if it must "
    "wait") {
  Executor executor(virtual_time);
  Shared shared;
  Handle<> waiter = executor.submit(takes_one(shared, "a"));
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(1ms);
    const Mutex::Guard guard = co_await shared.mutex.lock();
    waiter.cancel();
    co_await Sleep(5ms);
    shared.timeline.push_back(at_now("unlocks"));
  });
  executor.run();
  CHECK(shared.timeline == Timeline{"unlocks@6", "a cancelled, locked"});
  CHECK(!shared.mutex.locked());
}

TEST_CASE("ConditionVariable: entered cancelled it throws and leaves the mutex locked") {
  Executor executor(virtual_time);
  Shared shared;
  shared.ready = 1;
  std::optional<Handle<>> self;
  self.emplace(executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await shared.mutex.lock();
    self->cancel();
    for (int with_predicate = 0; with_predicate < 2; ++with_predicate) {
      try {
        if (with_predicate == 1) {
          co_await shared.changed.wait(guard, [] { return true; });
        } else {
          co_await shared.changed.wait(guard);
        }
        shared.timeline.push_back("passed");
      } catch (const Cancelled&) {
        shared.timeline.push_back(guard ? "cancelled, locked" : "cancelled, not locked");
      }
    }
  }));
  executor.run();
  CHECK(shared.timeline == Timeline{"cancelled, locked", "cancelled, locked"});
  CHECK(!shared.mutex.locked());
}

TEST_CASE(
    "ConditionVariable: who was notified and is cancelled before it runs returns, and throws at its next "
    "wait") {
  Executor executor(virtual_time);
  Shared shared;
  Handle<> waiter = executor.submit({}, [&]() -> Task<> {
    co_await takes_one(shared, "a");
    co_await tells_at_next_wait(shared.timeline);
  });
  executor.run_for(1ms);
  shared.ready = 1;
  shared.changed.notify_one();
  waiter.cancel();
  executor.run();
  CHECK(shared.timeline == Timeline{"a@1", "next wait cancelled@1"});
}

TEST_CASE("ConditionVariable: a Deadlock names it") {
  Executor executor(virtual_time);
  Shared shared;
  executor.submit(takes_one(shared, "a"));
  CHECK_THROWS_WITH(executor.run(), Catch::Contains("waits for condition variable \"changed\""));
}
