#include <catch2/catch.hpp>

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_all.hpp>
#include <bide/executor/scope/when_any.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/executor/testing/cancel_sweep.hpp>
#include <bide/tests/executor/timeline.hpp>

// Every wait there is, in every pair and inside every combinator, with a cancel at each point of each thread.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::AtExit;
using testing::CancelSweepOptions;
using testing::for_each_cancel_point;

using Item = std::unique_ptr<int>;

struct World {
  Mutex mutex;
  SharedMutex shared_mutex;
  ConditionVariable changed;
  bool changed_once = false;
  Semaphore semaphore{2};
  Event event;
  Latch latch{1};
  Barrier barrier{2};
  RateLimiter limiter{Rate(1, 2ms), 2};
  Channel<Item> meeting{0};
  Channel<Item> buffer{1};
  int sent = 0;
  int received = 0;

  // Empty: all is in order.
  std::string fault() const {
    if (mutex.locked() || shared_mutex.locked() || shared_mutex.readers() != 0) return "something is locked";
    if (semaphore.value() != 2) return std::to_string(semaphore.value()) + " permits of 2";
    const int left = static_cast<int>(buffer.size());
    if (sent != received + left) {
      return std::to_string(sent) + " sent, " + std::to_string(received) + " received, " +
             std::to_string(left) + " left";
    }
    const std::size_t waiters = mutex.waiters() + shared_mutex.waiters() + changed.waiters() +
                                semaphore.waiters() + event.waiters() + latch.waiters() + barrier.waiters() +
                                limiter.waiters() + meeting.waiting_senders() + meeting.waiting_receivers() +
                                buffer.waiting_senders() + buffer.waiting_receivers();
    return waiters == 0 ? "" : std::to_string(waiters) + " waiters left";
  }
};

// Operations. What only another thread could end has a limit, so each can be alone.

Task<> mutex(World& world) {
  const Mutex::Guard guard = co_await world.mutex.lock();
  co_await Sleep(1ms);
}
Task<> writer(World& world) {
  const SharedMutex::Guard guard = co_await world.shared_mutex.lock();
  co_await Sleep(1ms);
}
Task<> reader(World& world) {
  const SharedMutex::Guard guard = co_await world.shared_mutex.lock_shared();
  co_await Sleep(1ms);
}
Task<> condition(World& world) {
  Mutex::Guard guard = co_await world.mutex.lock();
  if (!world.changed_once) co_await try_timeout(3ms, world.changed.wait(guard));
  if (!guard) throw std::logic_error("the wait came back without the mutex");
  world.changed_once = true;
  world.changed.notify_all();
}
Task<> semaphore(World& world) {
  co_await world.semaphore.acquire(2);
  const AtExit give_back([&world] { world.semaphore.release(2); });
  co_await Sleep(1ms);
}
Task<> event(World& world) {
  const bool came = co_await try_timeout(3ms, world.event.wait());
  if (!came) world.event.set();
}
Task<> latch(World& world) {
  const bool open = co_await try_timeout(3ms, world.latch.wait());
  if (!open && !world.latch.try_wait()) world.latch.count_down();
}
Task<> barrier(World& world) { co_await try_timeout(2ms, world.barrier.arrive_and_wait()); }
Task<> limiter(World& world) { co_await world.limiter.acquire(2); }
Task<> sends(World& world, Channel<Item>& channel) {
  Item item = std::make_unique<int>(1);
  // In either case, and also when a cancel ends it: sent is what is not here any more.
  const AtExit count([&] { world.sent += item == nullptr ? 1 : 0; });
  co_await try_timeout(2ms, channel.send(std::move(item)));
}
Task<> receives(World& world, Channel<Item>& channel) {
  const std::optional<std::optional<Item>> item = co_await try_timeout(2ms, channel.receive());
  if (item && *item) ++world.received;
}
Task<> send_0(World& world) { return sends(world, world.meeting); }
Task<> send_1(World& world) { return sends(world, world.buffer); }
Task<> receive_0(World& world) { return receives(world, world.meeting); }
Task<> receive_1(World& world) { return receives(world, world.buffer); }
Task<> selects(World& world) {
  Item item = std::make_unique<int>(1);
  const auto selected = co_await select(
      sending(world.meeting, std::move(item)), receiving(world.meeting), waiting(world.event),
      [&world] { return world.semaphore.acquire(2); }, Sleep(2ms));
  if ((selected.index == 0) != (item == nullptr)) throw std::logic_error("an arm that lost has sent");
  if (selected.index == 0) ++world.sent;
  if (selected.index == 1) ++world.received;
  if (selected.index == 3) world.semaphore.release(2);
}
Task<> join(World& world) {
  Handle<> handle = submit(mutex(world));
  co_await handle;
}
Task<> sleep(World&) { co_await Sleep(1ms); }
Task<> yield(World&) { co_await Yield(); }

struct Operation {
  const char* name;
  Task<> (*start)(World&);
};
constexpr Operation operations[] = {
    {"mutex", mutex},          {"writer", writer},  {"reader", reader},  {"condition variable", condition},
    {"semaphore", semaphore},  {"event", event},    {"latch", latch},    {"barrier", barrier},
    {"limiter", limiter},      {"send, 0", send_0}, {"send, 1", send_1}, {"receive, 0", receive_0},
    {"receive, 1", receive_1}, {"select", selects}, {"join", join},      {"sleep", sleep},
    {"yield", yield}};

// Combinators, of two operations.

using Start = Task<> (*)(World&);
Task<> in_turn(World& world, Start a, Start b) {
  co_await a(world);
  co_await b(world);
}
Task<> under_timeout(World& world, Start a, Start b) {
  try {
    co_await timeout(1500us, in_turn(world, a, b));
  } catch (const TimedOut&) {
  }
}
Task<> under_try_timeout(World& world, Start a, Start b) { co_await try_timeout(1ms, in_turn(world, a, b)); }
Task<> under_shield(World& world, Start a, Start b) {
  co_await shielded(a(world));
  co_await b(world);
}
Task<> in_all(World& world, Start a, Start b) { co_await when_all(a(world), b(world)); }
Task<> in_any(World& world, Start a, Start b) { co_await when_any(a(world), b(world)); }
Task<> group_of(TaskGroup& group, World& world, Start a, Start b) {
  group.submit(a(world), {.priority = Priority::high});
  co_await b(world);
}
Task<> in_group(World& world, Start a, Start b) { co_await with_task_group(group_of, std::ref(world), a, b); }

struct Combinator {
  const char* name;
  Task<> (*around)(World&, Start, Start);
};
constexpr Combinator combinators[] = {{"timeout", under_timeout}, {"try_timeout", under_try_timeout},
                                      {"shielded", under_shield}, {"when_all", in_all},
                                      {"when_any", in_any},       {"group", in_group}};

constexpr CancelSweepOptions each_thread{.victim = CancelSweepOptions::each_thread,
                                         .most_resumes = 100'000,
                                         .executor = {.livelock_after = 10'000}};

// `submit(executor, world)` submits the threads.
template <class Submit>
testing::CancelSweepReport sweep(Submit submit_all) {
  return for_each_cancel_point(
      [&submit_all](Executor& executor) {
        auto world = std::make_shared<World>();
        submit_all(executor, *world);
        return [world] { return world->fault(); };
      },
      each_thread);
}

TEST_CASE("Cancel sweep: every wait alone") {
  for (const Operation& a : operations) {
    CAPTURE(a.name);
    CHECK(sweep([&a](Executor& executor, World& world) { executor.submit(a.start(world)); }));
  }
}

TEST_CASE("Cancel sweep: every pair of waits, in one thread and in two that contend") {
  std::size_t points = 0;
  for (const Operation& a : operations) {
    for (const Operation& b : operations) {
      CAPTURE(a.name, b.name);
      const auto one =
          sweep([&](Executor& executor, World& world) { executor.submit(in_turn(world, a.start, b.start)); });
      const auto two = sweep([&](Executor& executor, World& world) {
        executor.submit(a.start(world));
        executor.submit(b.start(world));
        executor.submit(b.start(world), {.priority = Priority::high});
      });
      CHECK(one);
      CHECK(two);
      points += one.points + two.points;
    }
  }
  CHECK(points > 2'000);
}

TEST_CASE("Cancel sweep: every pair of waits in every combinator, beside threads that contend") {
  for (const Combinator& combinator : combinators) {
    for (const Operation& a : operations) {
      for (const Operation& b : operations) {
        CAPTURE(combinator.name, a.name, b.name);
        CHECK(sweep([&](Executor& executor, World& world) {
          executor.submit(combinator.around(world, a.start, b.start));
          executor.submit(combinator.around(world, b.start, a.start), {.priority = Priority::low});
          executor.submit(a.start(world));
        }));
      }
    }
  }
}

}  // namespace
