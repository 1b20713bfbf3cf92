#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/timeline.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::AtExit;
using bide::test::Timeline;
using bide::test::virtual_time;

// Each thread holds one of these when its executor goes, gives it back in a destructor, and tries to submit.
struct World {
  Timeline timeline;
  Mutex mutex;
  SharedMutex shared_mutex;
  Semaphore permits{1};
  Channel<std::string> channel{0};
  Event event;
  Latch latch{2};
  Barrier barrier{2};
  ConditionVariable changed;

  void leave(const std::string& name) {
    timeline.push_back(name);
    event.set();
    latch.count_down(std::min<std::size_t>(latch.count(), 1));
    changed.notify_all();
    channel.close();
    permits.release(0);
    try {
      submit([]() -> Task<> { co_return; }());
      timeline.push_back("submitted");
    } catch (const QueueFull&) {
    }
  }
};

Task<> sleeps_for_ever() { co_await Sleep(24h); }

Task<> holds_lock(World& world, std::string name) {
  const Mutex::Guard guard = co_await world.mutex.lock();
  const AtExit leaves([&world, name] { world.leave(name); });
  co_await sleeps_for_ever();
}
Task<> reads(World& world, std::string name) {
  const SharedMutex::Guard guard = co_await world.shared_mutex.lock_shared();
  const AtExit leaves([&world, name] { world.leave(name); });
  co_await sleeps_for_ever();
}
Task<> writes(World& world, std::string name) {
  const AtExit leaves([&world, name] { world.leave(name); });
  const SharedMutex::Guard guard = co_await world.shared_mutex.lock();
  world.timeline.push_back("not reached");
}
Task<> has_permit(World& world, std::string name) {
  const AtExit gives_back([&world] { world.permits.release(); });
  const AtExit leaves([&world, name] { world.leave(name); });
  co_await world.permits.acquire();
  co_await sleeps_for_ever();
}
Task<> wants_permit(World& world, std::string name) {
  const AtExit leaves([&world, name] { world.leave(name); });
  co_await world.permits.acquire();
  world.timeline.push_back("not reached");
}
Task<> sends(World& world, std::string name) {
  const AtExit leaves([&world, name] { world.leave(name); });
  std::string item = "an item that is too long for the small buffer";
  co_await world.channel.send(std::move(item));
}
template <class Wait>
Task<> waits(World& world, std::string name, Wait wait) {
  const AtExit leaves([&world, name] { world.leave(name); });
  co_await wait();
  world.timeline.push_back("not reached");
}
Task<> waits_for_change(World& world, std::string name) {
  const AtExit leaves([&world, name] { world.leave(name); });
  Mutex own;
  Mutex::Guard guard = co_await own.lock();
  co_await world.changed.wait(guard);
}
Task<> members(TaskGroup& group, World& world, std::string name) {
  group.submit(holds_lock(world, name + " member, behind another"));
  group.submit(reads(world, name + " member, reading"));
  const AtExit leaves([&world, name] { world.leave(name); });
  co_await sleeps_for_ever();
}

}  // namespace

// X1: tokio #3869, #4213: destroyed in an order that dead-locked their destructors.
TEST_CASE(
    "Sync: threads that go with their executor give back what they hold, in one order, and wake nobody") {
  World world;
  {
    Executor executor(virtual_time);
    executor.submit(holds_lock(world, "1 locked"));
    executor.submit(reads(world, "2 reads"));
    executor.submit(writes(world, "3 wants to write"));
    executor.submit(has_permit(world, "4 has the permit"));
    executor.submit(wants_permit(world, "5 wants the permit"));
    executor.submit(sends(world, "6 sends"));
    executor.submit(
        {}, [&] { return waits(world, "7 waits for the event", [&] { return world.event.wait(); }); });
    executor.submit(
        {}, [&] { return waits(world, "8 waits for the latch", [&] { return world.latch.wait(); }); });
    executor.submit(
        {}, [&] { return waits(world, "9 has arrived", [&] { return world.barrier.arrive_and_wait(); }); });
    executor.submit(waits_for_change(world, "10 waits for a change"));
    executor.submit({}, [&] { return with_task_group(members, std::ref(world), std::string("11 group")); });
    executor.run_for(1ms);
    REQUIRE(executor.size() == 13);
  }
  // The youngest first: 13 reads behind the writer, and 12 waits for the mutex, so neither has got that far.
  CHECK(world.timeline == Timeline{"11 group", "10 waits for a change", "9 has arrived",
                                   "8 waits for the latch", "7 waits for the event", "6 sends",
                                   "5 wants the permit", "4 has the permit", "3 wants to write", "2 reads",
                                   "1 locked"});
  CHECK(!world.mutex.locked());
  CHECK(world.shared_mutex.readers() == 0);
  CHECK(world.permits.value() == 1);
  CHECK(world.mutex.waiters() + world.shared_mutex.waiters() + world.permits.waiters() +
            world.event.waiters() + world.latch.waiters() + world.barrier.waiters() +
            world.changed.waiters() + world.channel.waiting_senders() ==
        0);
}

TEST_CASE(
    "Sync: threads that stop and drain give back what they hold, to those that are cancelled with them") {
  World world;
  Executor executor(virtual_time);
  executor.submit(holds_lock(world, "locked"));
  executor.submit(has_permit(world, "has the permit"));
  executor.submit(wants_permit(world, "wants the permit"));
  executor.submit({}, [&] { return with_task_group(members, std::ref(world), std::string("group")); });
  executor.run_for(1ms);
  executor.stop();
  executor.run();
  CHECK(executor.size() == 0);
  CHECK(!world.mutex.locked());
  CHECK(world.shared_mutex.readers() == 0);
  CHECK(world.permits.value() == 1);
  CHECK(std::find(world.timeline.begin(), world.timeline.end(), "not reached") == world.timeline.end());
  CHECK(std::find(world.timeline.begin(), world.timeline.end(), "submitted") == world.timeline.end());
}

namespace {

struct Condition {
  Mutex mutex{};
  ConditionVariable changed{};
};

Task<> wait_for_ever(Condition& condition) {
  Mutex::Guard guard = co_await condition.mutex.lock();
  const auto never = [] { return false; };
  co_await condition.changed.wait(guard, never);
}

TEST_CASE("ConditionVariable: after a Deadlock it may go with its mutex, and a cancel ends the waiter") {
  Executor executor(virtual_time);
  auto condition = std::make_unique<Condition>();
  executor.submit(wait_for_ever(*condition));
  CHECK_THROWS_AS(executor.run(), Deadlock);
  condition.reset();
  executor.stop();
  executor.run();
  CHECK(executor.size() == 0);
}

}  // namespace
