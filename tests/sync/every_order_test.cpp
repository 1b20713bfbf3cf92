#include <catch2/catch.hpp>

#include <stdexcept>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/executor/testing/schedules.hpp>
#include <bide/tests/executor/timeline.hpp>

// Small programs under every order of the threads that are ready together.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::AtExit;

struct World {
  Mutex mutex;
  SharedMutex shared_mutex;
  Semaphore semaphore{2};
  ConditionVariable changed;
  int tokens = 1;

  bool in_order() const {
    return !mutex.locked() && !shared_mutex.locked() && semaphore.value() == 2 && tokens == 1 &&
           mutex.waiters() + shared_mutex.waiters() + semaphore.waiters() + changed.waiters() == 0;
  }
};

Task<> locks(World& world) {
  co_await Yield();
  const Mutex::Guard guard = co_await world.mutex.lock();
  co_await Yield();
}
Task<> writes(World& world) {
  co_await Yield();
  const SharedMutex::Guard guard = co_await world.shared_mutex.lock();
  co_await Yield();
}
Task<> acquires(World& world) {
  co_await Yield();
  co_await world.semaphore.acquire(2);
  const AtExit give_back([&world] { world.semaphore.release(2); });
  co_await Yield();
}
Task<> takes_token(World& world) {
  co_await Yield();
  {
    Mutex::Guard guard = co_await world.mutex.lock();
    co_await world.changed.wait(guard, [&world] { return world.tokens > 0; });
    --world.tokens;
  }
  const AtExit give_back([&world] {
    ++world.tokens;
    world.changed.notify_one();
  });
  co_await Yield();
}

}  // namespace

// S1, S2 under every order: one holds, two wait, one of those is cancelled, in whatever order they come.
TEST_CASE("Sync: a hand-over to a waiter that is cancelled is never stuck, under every order of equals") {
  int number = 0;
  for (Task<> (*use)(World&) : {locks, writes, acquires, takes_token}) {
    CAPTURE(++number);
    const auto report = testing::for_each_schedule([use](Executor& executor) {
      World world;
      executor.submit(use(world));
      Handle<> b = executor.submit(use(world));
      executor.submit({}, [&b]() -> Task<> {
        co_await Yield();
        b.cancel();
      });
      executor.submit(use(world));
      executor.run();
      if (!world.in_order()) throw std::runtime_error("something is lost");
    });
    INFO(report.text());
    CHECK(report.failures.empty());
    CHECK(report.complete);
    CHECK(report.schedules > 100);
  }
}

// N5 under every order
TEST_CASE("select: two that offer to each other make one exchange, under every order of equals") {
  const auto report = testing::for_each_schedule([](Executor& executor) {
    Channel<int> a(0);
    Channel<int> b(0);
    int sent = 0;
    int received = 0;
    const auto chooses = [&](Channel<int>& out, Channel<int>& in) -> Task<> {
      const auto selected = co_await select(sending(out, 1), receiving(in));
      ++(selected.index == 0 ? sent : received);
    };
    executor.submit(chooses(a, b));
    executor.submit(chooses(b, a));
    executor.run();
    if (sent != 1 || received != 1) throw std::runtime_error("not one exchange");
  });
  INFO(report.text());
  CHECK(report.failures.empty());
  CHECK(report.complete);
}
