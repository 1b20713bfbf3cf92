#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/timeline.hpp>

// Every wait, in every way to meet a cancel and a change of class.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::virtual_time;

/// Everything that is ready to be had, and what would let a waiter go on where it is not.
struct World {
  Mutex mutex;
  SharedMutex shared_mutex;
  Semaphore semaphore;
  RateLimiter limiter{Rate(1, 1s), 1};
  Event event;
  Latch latch;
  Barrier barrier;
  Channel<int> items{1};
  Channel<int> room;

  enum class Has : bool { nothing, everything };
  explicit World(Has has = Has::everything)
      : semaphore(has == Has::everything ? 1 : 0),
        latch(has == Has::everything ? 0 : 1),
        barrier(has == Has::everything ? 1 : 2),
        room(has == Has::everything ? 1 : 0) {
    if (has == Has::nothing) return;
    event.set();
    static_cast<void>(items.try_send(1));
  }
  std::size_t waiters() const {
    return mutex.waiters() + shared_mutex.waiters() + semaphore.waiters() + limiter.waiters() +
           event.waiters() + latch.waiters() + barrier.waiters() + items.waiting_receivers() +
           room.waiting_senders();
  }
  bool untouched() const {
    return !mutex.locked() && !shared_mutex.locked() && shared_mutex.readers() == 0 &&
           semaphore.value() == 1 && event.is_set() && barrier.generation() == 0 && items.size() == 1 &&
           room.size() == 0;
  }
};

struct NamedWait {
  const char* name;
  Task<> (*wait)(World&);
};

Task<> locks(World& world) { static_cast<void>(co_await world.mutex.lock()); }
Task<> locks_shared(World& world) { static_cast<void>(co_await world.shared_mutex.lock_shared()); }
Task<> locks_exclusive(World& world) { static_cast<void>(co_await world.shared_mutex.lock()); }
Task<> acquires(World& world) { co_await world.semaphore.acquire(); }
Task<> takes(World& world) { co_await world.limiter.acquire(); }
Task<> waits(World& world) { co_await world.event.wait(); }
Task<> waits_for_latch(World& world) { co_await world.latch.wait(); }
Task<> arrives(World& world) { co_await world.barrier.arrive_and_wait(); }
Task<> receives(World& world) { static_cast<void>(co_await world.items.receive()); }
Task<> sends(World& world) { co_await world.room.send(2); }
Task<> selects(World& world) {
  static_cast<void>(co_await select(receiving(world.items), sending(world.room, 2), waiting(world.event)));
}
Task<> selects_sleep(World&) { static_cast<void>(co_await select(Sleep(0ms))); }

const std::vector<NamedWait> waits_that_are_ready{
    {"Mutex", locks},
    {"SharedMutex, shared", locks_shared},
    {"SharedMutex, exclusive", locks_exclusive},
    {"Semaphore", acquires},
    {"RateLimiter", takes},
    {"Event", waits},
    {"Latch", waits_for_latch},
    {"Barrier", arrives},
    {"receive", receives},
    {"send", sends},
    {"select", selects},
    {"select of a sleep", selects_sleep},
};

}  // namespace

// C3, C6
TEST_CASE(
    "Sync: a wait that is entered cancelled throws, though it could succeed, and leaves the object "
    "untouched") {
  for (const NamedWait& named : waits_that_are_ready) {
    INFO(named.name);
    Executor executor(virtual_time);
    World world;
    std::optional<Handle<>> self;
    int cancels = 0;
    self.emplace(executor.submit({}, [&]() -> Task<> {
      self->cancel();
      for (int i = 0; i < 2; ++i) {
        try {
          co_await named.wait(world);
        } catch (const Cancelled&) {
          ++cancels;
        }
      }
    }));
    executor.run();
    CHECK(cancels == 2);
    CHECK(world.untouched());
    std::uint64_t tokens = 0;
    executor.submit({}, [&]() -> Task<> {
      tokens = world.limiter.available();
      co_return;
    });
    executor.run();
    CHECK(tokens == 1);
  }
}

// C3
TEST_CASE("Sync: a wait that is entered cancelled and could not succeed throws at once, and is in no queue") {
  for (const NamedWait& named : waits_that_are_ready) {
    INFO(named.name);
    Executor executor(virtual_time);
    World world(World::Has::nothing);
    executor.submit({}, [&]() -> Task<> {
      const Mutex::Guard guard = co_await world.mutex.lock();
      const SharedMutex::Guard shared_guard = co_await world.shared_mutex.lock();
      co_await world.limiter.acquire();
      co_await Sleep(1ms);
    });
    bool threw_at_once = false;
    std::optional<Handle<>> self;
    self.emplace(executor.submit({}, [&]() -> Task<> {
      self->cancel();
      try {
        co_await named.wait(world);
      } catch (const Cancelled&) {
        threw_at_once = now() == Instant();
      }
    }));
    executor.run();
    CHECK(threw_at_once);
    CHECK(world.waiters() == 0);
    CHECK(world.latch.count() == 1);
  }
}

// C6
TEST_CASE("Sync: a thread that is cancelled while it is ready sees it at its next wait, of whatever kind") {
  for (const NamedWait& named : waits_that_are_ready) {
    INFO(named.name);
    Executor executor(virtual_time);
    World world;
    bool saw_cancel = false;
    Handle<> thread = executor.submit({}, [&]() -> Task<> {
      try {
        co_await named.wait(world);
      } catch (const Cancelled&) {
        saw_cancel = true;
      }
    });
    thread.cancel();
    executor.run();
    CHECK(saw_cancel);
    CHECK(world.untouched());
  }
}

// P2
TEST_CASE("Sync: a critical thread is critical again after every wait") {
  Executor executor(virtual_time);
  World world;
  Mutex held;
  Semaphore empty(0);
  Event later;
  Channel<int> channel(0);
  std::string order;
  executor.submit({.priority = Priority::critical}, [&]() -> Task<> {
    const auto normal_is_ready = [&] {
      submit({.priority = Priority::normal}, [&]() -> Task<> {
        order += 'n';
        co_return;
      });
    };
    for (int kind = 0; kind < 5; ++kind) {
      if (kind == 0) static_cast<void>(co_await held.lock());
      if (kind == 1) co_await empty.acquire();
      if (kind == 2) co_await later.wait();
      if (kind == 3) static_cast<void>(co_await channel.receive());
      if (kind == 4) static_cast<void>(co_await select(receiving(channel), Sleep(1h)));
      normal_is_ready();
      co_await Yield();
      order += 'c';
    }
  });
  executor.submit({.priority = Priority::low}, [&]() -> Task<> {
    for (int kind = 1; kind < 5; ++kind) {
      co_await Sleep(1ms);
      if (kind == 1) empty.release();
      if (kind == 2) later.set();
      if (kind >= 3) co_await channel.send(kind);
    }
  });
  executor.run();
  CHECK(order == "cncncncncn");
}
