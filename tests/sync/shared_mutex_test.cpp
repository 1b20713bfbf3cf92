#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/timeline.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> reads(SharedMutex& mutex, Timeline& timeline, const char* name) {
  const SharedMutex::Guard guard = co_await mutex.lock_shared();
  timeline.push_back(at_now(name));
  co_await Sleep(5ms);
}

Task<> writes(SharedMutex& mutex, Timeline& timeline, const char* name) {
  const SharedMutex::Guard guard = co_await mutex.lock();
  timeline.push_back(at_now(name));
  co_await Sleep(5ms);
}

}  // namespace

TEST_CASE("SharedMutex: readers together, a writer alone, all as they came") {
  Executor executor(virtual_time);
  SharedMutex mutex;
  Timeline timeline;
  executor.submit(reads(mutex, timeline, "r1"));
  executor.submit(reads(mutex, timeline, "r2"));
  executor.submit(writes(mutex, timeline, "w1"));
  executor.submit(reads(mutex, timeline, "r3"));
  executor.submit(reads(mutex, timeline, "r4"));
  executor.submit(writes(mutex, timeline, "w2"));
  executor.submit(writes(mutex, timeline, "w3"));
  executor.run();
  CHECK(timeline == Timeline{"r1@0", "r2@0", "w1@5", "r3@10", "r4@10", "w2@15", "w3@20"});
  CHECK(!mutex.locked());
  CHECK(mutex.readers() == 0);
}

TEST_CASE("SharedMutex: a reader waits behind a writer of its class, and goes before one of a lower class") {
  Executor executor(virtual_time);
  SharedMutex mutex;
  Timeline timeline;
  executor.submit(reads(mutex, timeline, "r1"));
  executor.submit(writes(mutex, timeline, "writer"));
  executor.submit(reads(mutex, timeline, "r2"));
  executor.submit({.priority = Priority::high}, [&]() -> Task<> {
    co_await Sleep(1ms);
    co_await reads(mutex, timeline, "high");
  });
  executor.run();
  CHECK(timeline == Timeline{"r1@0", "high@1", "writer@6", "r2@11"});
}

TEST_CASE("SharedMutex: a writer that is cancelled lets the readers behind it through at once") {
  Executor executor(virtual_time);
  SharedMutex mutex;
  Timeline timeline;
  executor.submit(reads(mutex, timeline, "r1"));
  Handle<> writer = executor.submit(writes(mutex, timeline, "writer"));
  executor.submit(reads(mutex, timeline, "r2"));
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(1ms);
    writer.cancel();
  });
  executor.run();
  CHECK(timeline == Timeline{"r1@0", "r2@1"});
  CHECK(mutex.readers() == 0);
}

// S6
TEST_CASE("SharedMutex: guards move, and unlock once") {
  Executor executor(virtual_time);
  SharedMutex mutex;
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    SharedMutex::Guard first = co_await mutex.lock_shared();
    SharedMutex::Guard second = mutex.try_lock_shared();
    timeline.push_back(std::to_string(mutex.readers()));
    first = std::move(second);
    SharedMutex::Guard& same = first;
    first = std::move(same);
    timeline.push_back(std::to_string(mutex.readers()));
    timeline.push_back(mutex.try_lock() ? "wrote" : "refused");
    first.unlock();
    SharedMutex::Guard writer = mutex.try_lock();
    timeline.push_back(mutex.locked() && !mutex.try_lock_shared() ? "alone" : "not alone");
  });
  executor.run();
  CHECK(timeline == Timeline{"2", "1", "refused", "alone"});
  CHECK(!mutex.locked());
}

TEST_CASE("SharedMutex: a Deadlock names the holder, whichever goes first, executor or mutex") {
  std::string text;
  {
    Executor executor(virtual_time);
    SharedMutex table("table");
    executor.submit({}, [&]() -> Task<> {
      const SharedMutex::Guard reads_on = co_await table.lock_shared();
      const SharedMutex::Guard writes_too = co_await table.lock();
    });
    try {
      executor.run();
    } catch (const Deadlock& deadlock) {
      text = deadlock.what();
    }
  }
  CHECK_THAT(text, Catch::Contains("waits for shared mutex \"table\" read by thread 1"));
  CHECK_THAT(text, Catch::Contains("1 -> 1"));
}

TEST_CASE("SharedMutex: an executor that is destroyed with holders and waiters leaves it unlocked") {
  SharedMutex mutex;
  Timeline timeline;
  {
    Executor executor(virtual_time);
    executor.submit(writes(mutex, timeline, "w1"));
    executor.submit(reads(mutex, timeline, "r1"));
    executor.submit(reads(mutex, timeline, "r2"));
    executor.submit(writes(mutex, timeline, "w2"));
    SECTION("while a writer holds it") { executor.run_for(1ms); }
    SECTION("when it was handed to readers that have not run yet") {
      while (mutex.readers() == 0) executor.run_one();
    }
    CHECK(timeline == Timeline{"w1@0"});
  }
  CHECK(!mutex.locked());
  CHECK(mutex.readers() == 0);
  CHECK(mutex.waiters() == 0);
}
