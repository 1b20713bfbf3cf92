#include <catch2/catch.hpp>

#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/death.hpp>
#include <bide/tests/executor/timeline.hpp>

// A lock belongs to the thread that has it, and the Guard may be anywhere: the thread may not end before it.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::death_of;
using bide::test::Timeline;
using bide::test::virtual_time;

constexpr const char* message = "a thread ends while it holds a lock";

template <class Lockable>
Task<> locks_into(Lockable& mutex, typename Lockable::Guard& elsewhere) {
  elsewhere = co_await mutex.lock();
}
Task<> reads_into(SharedMutex& mutex, SharedMutex::Guard& elsewhere) {
  elsewhere = co_await mutex.lock_shared();
}
Task<Mutex::Guard> returns_guard(Mutex& mutex) { co_return co_await mutex.lock(); }

}  // namespace

TEMPLATE_TEST_CASE("Guard: one that outlives the thread that locked ends the process", "", Mutex,
                   SharedMutex) {
  const auto kept_outside = death_of([] {
    TestType mutex;
    typename TestType::Guard elsewhere;
    Executor executor(virtual_time);
    executor.submit(locks_into(mutex, elsewhere));
    executor.run();
  });
  CHECK(kept_outside.aborted);
  CHECK_THAT(kept_outside.said, Catch::Contains(message));
}

TEST_CASE("Guard: a reader's, a try_lock's, and one that is a thread's result may not outlive it either") {
  const auto read = death_of([] {
    SharedMutex mutex;
    SharedMutex::Guard elsewhere;
    Executor executor(virtual_time);
    executor.submit(reads_into(mutex, elsewhere));
    executor.run();
  });
  CHECK(read.aborted);
  CHECK_THAT(read.said, Catch::Contains(message));

  const auto tried = death_of([] {
    Mutex mutex;
    Mutex::Guard elsewhere;
    Executor executor(virtual_time);
    executor.submit({}, [&]() -> Task<> {
      elsewhere = mutex.try_lock();
      co_return;
    });
    executor.run();
  });
  CHECK(tried.aborted);
  CHECK_THAT(tried.said, Catch::Contains(message));

  const auto returned = death_of([] {
    Mutex mutex;
    Executor executor(virtual_time);
    Handle<Mutex::Guard> handle = executor.submit(returns_guard(mutex));
    executor.run();
  });
  CHECK(returned.aborted);
  CHECK_THAT(returned.said, Catch::Contains(message));
}

TEST_CASE("Guard: those in frames and arguments of a thread are gone in time, however it ends") {
  Mutex mutex;
  Timeline timeline;
  Executor executor(virtual_time);
  const auto holds = [&](Mutex::Guard guard, Duration duration) -> Task<> {
    co_await Sleep(duration);
    timeline.push_back(guard ? "held" : "empty");
  };
  executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await mutex.lock();
    co_await holds(std::move(guard), 1ms);
  });
  Handle<> cancelled = executor.submit({}, [&]() -> Task<> {
    Mutex::Guard guard = co_await mutex.lock();
    co_await holds(std::move(guard), 1h);
  });
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(2ms);
    cancelled.cancel();
    Mutex::Guard guard = co_await returns_guard(mutex);  // awaited, it is this thread's
    timeline.push_back("returned");
  });
  executor.run();
  CHECK(timeline == Timeline{"held", "returned"});
  CHECK(!mutex.locked());
}

TEST_CASE("Guard: one outside of an executor that goes with the thread that locked ends the process") {
  const auto outlives = death_of([] {
    Mutex mutex;
    Mutex::Guard elsewhere;
    Executor executor(virtual_time);
    executor.submit({}, [&]() -> Task<> {
      elsewhere = co_await mutex.lock();
      co_await Sleep(1h);
    });
    executor.run_for(1ms);
  });
  CHECK(outlives.aborted);
  CHECK_THAT(outlives.said, Catch::Contains(message));
}

TEST_CASE("Guard: one in a frame of a younger thread goes with the executor before the thread that locked") {
  Mutex mutex;
  Mutex own;
  {
    Executor executor(virtual_time);
    Mutex::Guard passed;
    executor.submit({}, [&]() -> Task<> {
      passed = co_await mutex.lock();
      co_await Sleep(1h);
    });
    const auto keeps = [](Mutex& locked, Mutex::Guard guard) -> Task<> {
      const Mutex::Guard inner = co_await locked.lock();
      co_await Sleep(1h);
      static_cast<void>(guard);
    };
    executor.run_for(1ms);
    executor.submit(keeps(own, std::move(passed)));
    executor.run_for(1ms);
    REQUIRE(mutex.locked());
    REQUIRE(own.locked());
  }
  CHECK(!mutex.locked());
  CHECK(!own.locked());
}
