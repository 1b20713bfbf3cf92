#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/timeline.hpp>

// An executor that runs inside a thread of another one, for a test within a test, and ends in a Deadlock. What its
// threads waited for may then go or be used from the outer thread: the outer run is none of the inner executor.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Timeline;
using bide::test::virtual_time;

// Each has a thread of the inner executor that waits for what never comes, and a way to end the wait from outside.
struct OfMutex {
  Mutex primitive;
  Task<> wait() {
    const Mutex::Guard guard = co_await primitive.lock();
    const Mutex::Guard again = co_await primitive.lock();
  }
  void use() { CHECK(!primitive.try_lock()); }
  static constexpr bool ended_by_use = false;
};
struct OfSharedMutex {
  SharedMutex primitive;
  Task<> wait() {
    const SharedMutex::Guard guard = co_await primitive.lock_shared();
    const SharedMutex::Guard again = co_await primitive.lock();
  }
  void use() { CHECK(!primitive.try_lock()); }
  static constexpr bool ended_by_use = false;
};
struct OfEvent {
  Event primitive;
  Task<> wait() { co_await primitive.wait(); }
  void use() { primitive.set(); }
  static constexpr bool ended_by_use = true;
};
struct OfSemaphore {
  Semaphore primitive{0};
  Task<> wait() { co_await primitive.acquire(); }
  void use() { primitive.release(); }
  static constexpr bool ended_by_use = true;
};
struct OfSender {
  Channel<std::string> primitive{0};
  Task<> wait() {
    std::string item = "too long for the small buffer of a string";
    co_await primitive.send(std::move(item));
  }
  void use() { CHECK(primitive.try_receive().has_value()); }
  static constexpr bool ended_by_use = true;
};
struct OfReceiver {
  Channel<int> primitive{1};
  Task<> wait() { static_cast<void>(co_await primitive.receive()); }
  void use() { primitive.close(); }
  static constexpr bool ended_by_use = true;
};
struct OfConditionVariable {
  std::shared_ptr<Mutex> mutex = std::make_shared<Mutex>();
  ConditionVariable primitive;
  Task<> wait() {
    const std::shared_ptr<Mutex> outlives_the_wait = mutex;
    Mutex::Guard guard = co_await outlives_the_wait->lock();
    co_await primitive.wait(guard);
  }
  void use() { primitive.notify_all(); }
  static constexpr bool ended_by_use = true;
};
struct OfLatch {
  Latch primitive{1};
  Task<> wait() { co_await primitive.wait(); }
  void use() { primitive.count_down(); }
  static constexpr bool ended_by_use = true;
};
struct OfBarrier {
  Barrier primitive{2};
  Task<> wait() { co_await primitive.arrive_and_wait(); }
  void use() { primitive.arrive_and_drop(); }
  static constexpr bool ended_by_use = true;
};
struct OfRateLimiter {
  RateLimiter primitive{Rate(1, Duration::max()), 2};
  Task<> wait() {
    co_await SleepUntil(Instant(1ns));
    co_await primitive.acquire(2);
    co_await primitive.acquire(2);
  }
  void use() { CHECK(primitive.waiters() == 1); }
  static constexpr bool ended_by_use = false;
};

template <class Of>
struct Inner {
  std::unique_ptr<Of> of = std::make_unique<Of>();
  Executor executor{virtual_time};

  void end_in_deadlock(Timeline& timeline) {
    executor.submit({}, [this] { return of->wait(); });
    try {
      executor.run();
    } catch (const Deadlock&) {
      timeline.push_back("deadlock");
    }
  }
};

// Runs the function in a thread of an executor that has an inner executor, which is stuck.
template <class Of, class F>
Timeline within_a_thread(F function) {
  Timeline timeline;
  Executor outer(virtual_time);
  outer.submit({}, [&]() -> Task<> {
    Inner<Of> inner;
    inner.end_in_deadlock(timeline);
    function(inner, timeline);
    co_return;
  });
  outer.run();
  return timeline;
}

}  // namespace

using EachPrimitive = std::tuple<OfMutex, OfSharedMutex, OfEvent, OfSemaphore, OfSender, OfReceiver,
                                 OfConditionVariable, OfLatch, OfBarrier, OfRateLimiter>;

TEMPLATE_LIST_TEST_CASE("Inner executor: what its stuck threads wait for goes before it", "", EachPrimitive) {
  const Timeline timeline = within_a_thread<TestType>([](auto& inner, Timeline& told) {
    inner.of.reset();
    told.push_back(inner.executor.report().unfinished.at(0).state);
    inner.executor.stop();
    inner.executor.run();
    told.push_back(inner.executor.size() == 0 ? "ended" : "left");
  });
  CHECK(timeline == Timeline{"deadlock", "waits for something that was destroyed", "ended"});
}

TEMPLATE_LIST_TEST_CASE("Inner executor: goes before what its stuck threads wait for", "", EachPrimitive) {
  const Timeline timeline = within_a_thread<TestType>([](auto& inner, Timeline& told) {
    std::unique_ptr<TestType> kept;
    {
      Inner<TestType> gone;
      gone.end_in_deadlock(told);
      kept = std::move(gone.of);
    }
    inner.of.reset();
  });
  CHECK(timeline == Timeline{"deadlock", "deadlock"});
}

TEMPLATE_LIST_TEST_CASE("Inner executor: what its stuck threads wait for is used from the outer thread", "",
                        EachPrimitive) {
  const Timeline timeline = within_a_thread<TestType>([](auto& inner, Timeline& told) {
    inner.of->use();
    try {
      inner.executor.run();
      told.push_back("ended");
    } catch (const Deadlock&) {
      told.push_back("stuck");
    }
  });
  CHECK(timeline == Timeline{"deadlock", TestType::ended_by_use ? "ended" : "stuck"});
}

TEST_CASE("Inner executor: a mutex that a stuck thread held is free for the outer thread when it has gone") {
  Timeline timeline;
  Mutex mutex;
  Executor outer(virtual_time);
  outer.submit({}, [&]() -> Task<> {
    {
      Executor inner(virtual_time);
      inner.submit({}, [&]() -> Task<> {
        const Mutex::Guard guard = co_await mutex.lock();
        co_await Event().wait();
      });
      try {
        inner.run();
      } catch (const Deadlock&) {
        timeline.push_back(mutex.try_lock() ? "free" : "held");
      }
    }
    const Mutex::Guard guard = co_await mutex.lock();
    timeline.push_back("locked");
  });
  outer.run();
  CHECK(timeline == Timeline{"held", "locked"});
  CHECK(!mutex.locked());
}
