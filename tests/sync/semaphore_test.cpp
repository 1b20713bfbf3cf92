#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/when_all.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/tests/executor/death.hpp>
#include <bide/tests/executor/timeline.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> acquires(Semaphore& semaphore, std::size_t permits, Timeline& timeline, const char* name) {
  co_await semaphore.acquire(permits);
  timeline.push_back(at_now(name));
  co_await Sleep(5ms);
  semaphore.release(permits);
}

}  // namespace

TEST_CASE("Semaphore: as many as there are permits, the others as they came") {
  Executor executor(virtual_time);
  Semaphore semaphore(2);
  Timeline timeline;
  for (const char* name : {"a", "b", "c", "d", "e"}) executor.submit(acquires(semaphore, 1, timeline, name));
  executor.run();
  CHECK(timeline == Timeline{"a@0", "b@0", "c@5", "d@5", "e@10"});
  CHECK(semaphore.value() == 2);
}

TEST_CASE("Semaphore: a big request in front holds up later small ones of its class, not higher ones") {
  Executor executor(virtual_time);
  Semaphore semaphore(3);
  Timeline timeline;
  executor.submit(acquires(semaphore, 2, timeline, "two"));
  executor.submit(acquires(semaphore, 3, timeline, "three"));
  executor.submit(acquires(semaphore, 1, timeline, "one"));
  executor.submit({}, [&]() -> Task<> {
    timeline.push_back(semaphore.try_acquire() ? "barged" : "refused");
    co_return;
  });
  executor.submit({.priority = Priority::high}, [&]() -> Task<> {
    co_await Sleep(1ms);
    co_await acquires(semaphore, 1, timeline, "high");
  });
  executor.run();
  CHECK(timeline == Timeline{"two@0", "refused", "high@1", "three@6", "one@11"});
  CHECK(semaphore.value() == 3);
}

// S2
TEST_CASE("Semaphore: a late comer does not overtake, also when the first waiter is cancelled") {
  const bool cancels_b = GENERATE(false, true);
  Executor executor(virtual_time);
  Semaphore semaphore(1);
  Timeline timeline;
  std::optional<Handle<>> b;
  executor.submit({}, [&]() -> Task<> {
    co_await semaphore.acquire();
    co_await Sleep(5ms);
    semaphore.release();
    if (cancels_b) b->cancel();
    submit(acquires(semaphore, 1, timeline, "d"));
  });
  b.emplace(executor.submit({}, [&]() -> Task<> {
    co_await semaphore.acquire();
    timeline.push_back(at_now("b"));
    semaphore.release();
  }));
  executor.submit(acquires(semaphore, 1, timeline, "c"));
  executor.run();
  CHECK(timeline == Timeline{"b@5", "c@5", "d@10"});  // b has its permit before the cancel
  CHECK(semaphore.value() == 1);
}

// S2
TEST_CASE("Semaphore: a waiter that is cancelled lets those behind it through at once") {
  Executor executor(virtual_time);
  Semaphore semaphore(2);
  Timeline timeline;
  executor.submit(acquires(semaphore, 1, timeline, "one"));
  Handle<> big = executor.submit(acquires(semaphore, 2, timeline, "big"));
  executor.submit(acquires(semaphore, 1, timeline, "small"));
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(1ms);
    big.cancel();
  });
  executor.run();
  CHECK(timeline == Timeline{"one@0", "small@1"});
  CHECK(semaphore.value() == 2);
}

// S4
TEST_CASE("Semaphore: of two that acquire the last permit in one turn the second waits") {
  Executor executor(virtual_time);
  Semaphore semaphore(1);
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    co_await when_all(acquires(semaphore, 1, timeline, "a"), acquires(semaphore, 1, timeline, "b"));
  });
  executor.run_for(1ms);
  CHECK(timeline == Timeline{"a@0"});
  CHECK(semaphore.value() == 0);
  CHECK(semaphore.waiters() == 1);
  executor.run();
  CHECK(semaphore.value() == 1);
}

TEST_CASE("Semaphore: released by a post and from outside of the run; none at the start; zero is free") {
  Executor executor(virtual_time);
  Semaphore semaphore(0);
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    co_await semaphore.acquire(0);
    timeline.push_back("zero");
    co_await semaphore.acquire();
    timeline.push_back("one");
    co_await semaphore.acquire();
    timeline.push_back("two");
  });
  executor.run_for(1ms);
  semaphore.release();
  executor.run_for(1ms);
  executor.post([&] { semaphore.release(2); });
  executor.run();
  CHECK(timeline == Timeline{"zero", "one", "two"});
  CHECK(semaphore.value() == 1);
  CHECK(semaphore.try_acquire());
  CHECK(!semaphore.try_acquire());
}

TEST_CASE("Semaphore: a Deadlock says how many permits are wanted and left") {
  Executor executor(virtual_time);
  Semaphore semaphore(1, "slots");
  Timeline timeline;
  executor.submit(acquires(semaphore, 2, timeline, "never"));
  std::string text;
  try {
    executor.run();
  } catch (const Deadlock& deadlock) {
    text = deadlock.what();
  }
  CHECK_THAT(text, Catch::Contains("waits for 2 permits of semaphore \"slots\", which has 1"));
}

TEST_CASE("Semaphore: more permits than can be counted end the process, all that can do not") {
  Semaphore semaphore(1);
  semaphore.release(SIZE_MAX - 1);
  CHECK(semaphore.value() == SIZE_MAX);
  const auto death = bide::test::death_of([&] { semaphore.release(); });
  CHECK(death.aborted);
  CHECK_THAT(death.said, Catch::Contains("more often than it can count"));
}
