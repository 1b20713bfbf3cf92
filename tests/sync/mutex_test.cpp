#include <catch2/catch.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/tests/executor/death.hpp>
#include <bide/tests/executor/timeline.hpp>
#include <bide/tests/sync/told.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::death_of;
using bide::test::tells_at_next_wait;
using bide::test::tells_end;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> locks(Mutex& mutex, Timeline& timeline, const char* name, Duration holds = 0ms) {
  const Mutex::Guard guard = co_await mutex.lock();
  timeline.push_back(at_now(name));
  if (holds > 0ms) co_await Sleep(holds);
}

Task<> tries_to_lock(Mutex& mutex, Timeline& timeline, const char* name) {
  return tells_end(timeline, name,
                   [&mutex]() -> Task<> { const Mutex::Guard guard = co_await mutex.lock(); });
}

}  // namespace

TEST_CASE("Mutex: one thread holds it, the others get it as they came") {
  Executor executor(virtual_time);
  Mutex mutex;
  Timeline timeline;
  for (const char* name : {"a", "b", "c"}) executor.submit(locks(mutex, timeline, name, 5ms));
  executor.run();
  CHECK(timeline == Timeline{"a@0", "b@5", "c@10"});
  CHECK(!mutex.locked());
}

TEST_CASE("Mutex: a higher class goes first, and as it came within a class") {
  Executor executor(virtual_time);
  Mutex mutex;
  Timeline timeline;
  executor.submit(locks(mutex, timeline, "holder", 5ms), {.priority = Priority::critical});
  executor.submit(locks(mutex, timeline, "low"), {.priority = Priority::low});
  executor.submit(locks(mutex, timeline, "normal 1"));
  executor.submit(locks(mutex, timeline, "high"), {.priority = Priority::high});
  executor.submit(locks(mutex, timeline, "normal 2"));
  executor.run();
  CHECK(timeline == Timeline{"holder@0", "high@5", "normal 1@5", "normal 2@5", "low@5"});
}

TEST_CASE("Mutex: who unlocks and locks at once queues behind the waiter") {
  Executor executor(virtual_time);
  Mutex mutex;
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    for (int i = 0; i < 3; ++i) {
      const Mutex::Guard guard = co_await mutex.lock();
      timeline.push_back("greedy");
      co_await Yield();
    }
  });
  executor.submit(locks(mutex, timeline, "waiter"));
  executor.run();
  CHECK(timeline == Timeline{"greedy", "waiter@0", "greedy", "greedy"});
}

// S1
TEST_CASE("Mutex: a waiter that was handed the mutex and is cancelled before it runs has it, then the next") {
  Executor executor(virtual_time);
  Mutex mutex;
  Timeline timeline;
  std::optional<Handle<>> b;
  executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await mutex.lock();
    co_await Sleep(5ms);
    guard.unlock();
    b->cancel();
  });
  b.emplace(executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await mutex.lock();
    timeline.push_back(at_now("b"));
    co_await tells_at_next_wait(timeline);
  }));
  executor.submit(locks(mutex, timeline, "c"));
  executor.run();
  CHECK(timeline == Timeline{"b@5", "next wait cancelled@5", "c@5"});
  CHECK(!mutex.locked());
}

// S1, in the other order
TEST_CASE("Mutex: a waiter that is cancelled in the turn before the unlock gives way to the next") {
  Executor executor(virtual_time);
  Mutex mutex;
  Timeline timeline;
  std::optional<Handle<>> b;
  executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await mutex.lock();
    co_await Sleep(5ms);
    b->cancel();
    guard.unlock();
  });
  b.emplace(executor.submit(tries_to_lock(mutex, timeline, "b")));
  executor.submit(tries_to_lock(mutex, timeline, "c"));
  executor.run();
  CHECK(timeline == Timeline{"b cancelled@5", "c@5"});
  CHECK(!mutex.locked());
}

// S6
TEST_CASE("Mutex: a guard that is assigned over unlocks once, and survives a move onto itself") {
  Executor executor(virtual_time);
  Mutex first;
  Mutex second;
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await first.lock();
    guard = co_await second.lock();
    timeline.push_back(first.locked() ? "first held" : "first free");
    Mutex::Guard& same = guard;
    guard = std::move(same);
    timeline.push_back(second.locked() ? "second held" : "second free");
    Mutex::Guard moved(std::move(guard));
    timeline.push_back(guard ? "still owns" : "empty");
    guard.unlock();
    timeline.push_back(second.locked() ? "second held" : "second free");
  });
  executor.run();
  CHECK(timeline == Timeline{"first free", "second held", "empty", "second held"});
  CHECK(!first.locked());
  CHECK(!second.locked());
}

TEST_CASE("Mutex: try_lock gives an empty guard when it is locked") {
  Executor executor(virtual_time);
  Mutex mutex;
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = mutex.try_lock();
    Mutex::Guard again = mutex.try_lock();
    timeline.push_back(guard && !again ? "once" : "wrong");
    co_return;
  });
  executor.run();
  CHECK(timeline == Timeline{"once"});
  CHECK(!mutex.locked());
}

TEST_CASE("Mutex: a Deadlock names owner, cycle and mutex, whichever goes first, executor or mutexes") {
  std::string text;
  {
    Executor executor(virtual_time);
    Mutex bus("bus");
    Mutex disk("disk");
    const auto takes = [](Mutex& first, Mutex& second) -> Task<> {
      const Mutex::Guard one = co_await first.lock();
      co_await Yield();
      const Mutex::Guard two = co_await second.lock();
    };
    executor.submit(takes(bus, disk));
    executor.submit(takes(disk, bus));
    try {
      executor.run();
    } catch (const Deadlock& deadlock) {
      text = deadlock.what();
    }
  }
  CHECK_THAT(text, Catch::Contains("1 -> 2 -> 1"));
  CHECK_THAT(text, Catch::Contains("waits for mutex \"disk\" held by thread 2"));
  CHECK_THAT(text, Catch::Contains("waits for mutex \"bus\" held by thread 1"));
}

TEST_CASE("Mutex: a report says at which line the owner locked it, also after a hand-over and a try_lock") {
  Executor executor(virtual_time);
  Mutex mutex("m");
  Event never;
  const auto held_at = [&](std::size_t thread) {
    const std::optional<std::source_location> at = executor.report().unfinished.at(thread).taken_at;
    return at ? at->line() : 0;
  };
  const unsigned lock_line = __LINE__ + 2;
  executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await mutex.lock();
    co_await Sleep(1ms);
    guard.unlock();
    co_await never.wait();
  });
  const unsigned next_line = __LINE__ + 2;
  executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await mutex.lock();
    co_await Sleep(1ms);
  });
  Handle<> last = executor.submit({}, [&]() -> Task<> { const Mutex::Guard guard = co_await mutex.lock(); });
  executor.run_until(Instant());
  CHECK(held_at(1) == lock_line);
  CHECK(held_at(2) == lock_line);
  CHECK(held_at(0) == 0);  // does not wait for a mutex
  executor.run_until(Instant(1ms));
  CHECK(held_at(2) == next_line);
  CHECK_THAT(executor.dump(), Catch::Contains("held by thread 2 (locked at " + std::string(__FILE__) + ":" +
                                              std::to_string(next_line) + ")"));
  last.cancel();
  executor.run_until(Instant(2ms));
  const unsigned try_line = __LINE__ + 2;
  executor.submit({}, [&]() -> Task<> {
    const Mutex::Guard guard = mutex.try_lock();
    co_await never.wait();
  });
  executor.submit({}, [&]() -> Task<> { const Mutex::Guard guard = co_await mutex.lock(); });
  executor.run_until(Instant(2ms));
  CHECK(held_at(2) == try_line);
}

TEST_CASE("Mutex: a thread that waits for one that was destroyed outside of a run can be cancelled") {
  Executor executor(virtual_time);
  Timeline timeline;
  auto mutex = std::make_unique<Mutex>();
  executor.submit({}, [&]() -> Task<> {
    const Mutex::Guard guard = co_await mutex->lock();
    co_await Sleep(1h);
  });
  Handle<> waiter = executor.submit(tries_to_lock(*mutex, timeline, "waiter"));
  executor.run_for(1s);
  mutex.reset();
  CHECK(executor.report().unfinished.at(1).state == "waits for something that was destroyed");
  waiter.cancel();
  executor.run();
  CHECK(timeline == Timeline{"waiter cancelled@1000"});
}

TEST_CASE("Mutex: an executor that is destroyed with holder and waiters leaves it unlocked") {
  Mutex mutex;
  Timeline timeline;
  {
    Executor executor(virtual_time);
    for (const char* name : {"a", "b", "c"}) executor.submit(locks(mutex, timeline, name, 5ms));
    SECTION("while the holder sleeps") { executor.run_for(1ms); }
    SECTION("when it was handed over to one that has not run yet") {
      executor.run_for(1ms);
      while (mutex.waiters() == 2) executor.run_one();
      REQUIRE(timeline == Timeline{"a@0"});
    }
    REQUIRE(mutex.locked());
  }
  CHECK(!mutex.locked());
  CHECK(mutex.waiters() == 0);
}

TEST_CASE("Mutex: an unlock by another thread, and the end of a locked one in a run, end the process") {
  const auto unlocks_elsewhere = death_of([] {
    Executor executor(virtual_time);
    Mutex mutex;
    Mutex::Guard shared;
    executor.submit({}, [&]() -> Task<> {
      shared = co_await mutex.lock();
      co_await Sleep(1s);
    });
    executor.submit({}, [&]() -> Task<> {
      shared.unlock();
      co_return;
    });
    executor.run();
  });
  CHECK(unlocks_elsewhere.aborted);
  CHECK_THAT(unlocks_elsewhere.said, Catch::Contains("unlocked by another thread"));

  const auto destroyed_locked = death_of([] {
    Executor executor(virtual_time);
    auto mutex = std::make_unique<Mutex>();
    executor.submit({}, [&]() -> Task<> {
      const Mutex::Guard guard = co_await mutex->lock();
      co_await Sleep(1s);
    });
    executor.submit({}, [&]() -> Task<> {
      mutex.reset();
      co_return;
    });
    executor.run();
  });
  CHECK(destroyed_locked.aborted);
  CHECK_THAT(destroyed_locked.said, Catch::Contains("destroyed while it is locked"));
}
