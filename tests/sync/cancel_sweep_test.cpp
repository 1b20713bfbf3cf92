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

struct Things {
  Mutex mutex;
  SharedMutex shared_mutex;
  ConditionVariable changed;
  bool changed_once = false;
  Mutex tokens_mutex;
  ConditionVariable tokens_changed;
  int tokens = 1;
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
    if (mutex.locked() || tokens_mutex.locked() || shared_mutex.locked() || shared_mutex.readers() != 0)
      return "something is locked";
    if (semaphore.value() != 2) return std::to_string(semaphore.value()) + " permits of 2";
    if (tokens != 1) return std::to_string(tokens) + " tokens of 1";
    const int left = static_cast<int>(buffer.size());
    if (sent != received + left) {
      return std::to_string(sent) + " sent, " + std::to_string(received) + " received, " +
             std::to_string(left) + " left";
    }
    const std::size_t waiters = mutex.waiters() + shared_mutex.waiters() + changed.waiters() +
                                tokens_mutex.waiters() + tokens_changed.waiters() + semaphore.waiters() +
                                event.waiters() + latch.waiters() + barrier.waiters() + limiter.waiters() +
                                meeting.waiting_senders() + meeting.waiting_receivers() +
                                buffer.waiting_senders() + buffer.waiting_receivers();
    return waiters == 0 ? "" : std::to_string(waiters) + " waiters left";
  }
};

struct World {
  Things outer;
  Things inner;  // of an operation inside another one
  std::string fault() const { return outer.fault() + inner.fault(); }
};

// What an operation does when it has what it waited for: another one, on other things, or a short sleep.
struct Inside {
  Task<> (*start)(Things&, Inside) = nullptr;
  Things* things = nullptr;

  Task<> operator()() const {
    if (start != nullptr) return start(*things, Inside());
    return []() -> Task<> { co_await Sleep(1ms); }();
  }
};

// Operations. What only another thread could end has a limit, so each can be alone.

Task<> mutex(Things& things, Inside inside) {
  const Mutex::Guard guard = co_await things.mutex.lock();
  co_await inside();
}
Task<> writer(Things& things, Inside inside) {
  const SharedMutex::Guard guard = co_await things.shared_mutex.lock();
  co_await inside();
}
Task<> reader(Things& things, Inside inside) {
  const SharedMutex::Guard guard = co_await things.shared_mutex.lock_shared();
  co_await inside();
}
Task<> condition(Things& things, Inside inside) {
  Mutex::Guard guard = co_await things.mutex.lock();
  if (!things.changed_once) co_await try_timeout(3ms, things.changed.wait(guard));
  if (!guard) throw std::logic_error("the wait came back without the mutex");
  things.changed_once = true;
  things.changed.notify_all();
  co_await inside();
}
Task<> token(Things& things, Inside inside) {
  {
    Mutex::Guard guard = co_await things.tokens_mutex.lock();
    co_await things.tokens_changed.wait(guard, [&things] { return things.tokens > 0; });
    --things.tokens;
  }
  const AtExit give_back([&things] {
    ++things.tokens;
    things.tokens_changed.notify_one();
  });
  co_await inside();
}
Task<> semaphore(Things& things, Inside inside) {
  co_await things.semaphore.acquire(2);
  const AtExit give_back([&things] { things.semaphore.release(2); });
  co_await inside();
}
Task<> event(Things& things, Inside inside) {
  const bool came = co_await try_timeout(3ms, things.event.wait());
  if (!came) things.event.set();
  co_await inside();
}
Task<> latch(Things& things, Inside inside) {
  const bool open = co_await try_timeout(3ms, things.latch.wait());
  if (!open && !things.latch.try_wait()) things.latch.count_down();
  co_await inside();
}
Task<> barrier(Things& things, Inside inside) {
  co_await try_timeout(2ms, things.barrier.arrive_and_wait());
  co_await inside();
}
Task<> limiter(Things& things, Inside inside) {
  co_await things.limiter.acquire(2);
  co_await inside();
}
Task<> sends(Things& things, Channel<Item>& channel) {
  Item item = std::make_unique<int>(1);
  // In either case, and also when a cancel ends it: sent is what is not here any more.
  const AtExit count([&] { things.sent += item == nullptr ? 1 : 0; });
  co_await try_timeout(2ms, channel.send(std::move(item)));
}
Task<> receives(Things& things, Channel<Item>& channel) {
  const std::optional<std::optional<Item>> item = co_await try_timeout(2ms, channel.receive());
  if (item && *item) ++things.received;
}
Task<> send_0(Things& things, Inside) { return sends(things, things.meeting); }
Task<> send_1(Things& things, Inside) { return sends(things, things.buffer); }
Task<> receive_0(Things& things, Inside) { return receives(things, things.meeting); }
Task<> receive_1(Things& things, Inside) { return receives(things, things.buffer); }
Task<> selects(Things& things, Inside inside) {
  Item item = std::make_unique<int>(1);
  const auto selected = co_await select(
      sending(things.meeting, std::move(item)), receiving(things.meeting), waiting(things.event),
      [&things] { return things.semaphore.acquire(2); },
      [&things] { return things.barrier.arrive_and_wait(); }, Sleep(2ms));
  if ((selected.index == 0) != (item == nullptr)) throw std::logic_error("an arm that lost has sent");
  if (selected.index == 0) ++things.sent;
  if (selected.index == 1) ++things.received;
  if (selected.index == 3) things.semaphore.release(2);
  co_await inside();
}
Task<> join(Things& things, Inside inside) {
  Handle<> handle = submit(mutex(things, inside));
  co_await handle;
}
Task<> sleep(Things&, Inside inside) { co_await inside(); }
Task<> yield(Things&, Inside inside) {
  co_await Yield();
  co_await inside();
}

struct Operation {
  const char* name;
  Task<> (*on)(Things&, Inside);

  Task<> start(World& world) const { return on(world.outer, Inside()); }
  Task<> start_around(const Operation& inner, World& world) const {
    return on(world.outer, Inside{inner.on, &world.inner});
  }
};
constexpr Operation operations[] = {
    {"mutex", mutex},          {"writer", writer},  {"reader", reader},  {"condition variable", condition},
    {"semaphore", semaphore},  {"event", event},    {"latch", latch},    {"barrier", barrier},
    {"limiter", limiter},      {"send, 0", send_0}, {"send, 1", send_1}, {"receive, 0", receive_0},
    {"receive, 1", receive_1}, {"select", selects}, {"join", join},      {"sleep", sleep},
    {"yield", yield},          {"token", token}};

// Combinators, of two operations.

Task<> in_turn(World& world, const Operation& a, const Operation& b) {
  co_await a.start(world);
  co_await b.start(world);
}
Task<> under_timeout(World& world, const Operation& a, const Operation& b) {
  try {
    co_await timeout(1500us, in_turn(world, a, b));
  } catch (const TimedOut&) {
  }
}
Task<> under_try_timeout(World& world, const Operation& a, const Operation& b) {
  co_await try_timeout(1ms, in_turn(world, a, b));
}
Task<> under_shield(World& world, const Operation& a, const Operation& b) {
  co_await shielded(a.start(world));
  co_await b.start(world);
}
Task<> in_all(World& world, const Operation& a, const Operation& b) {
  co_await when_all(a.start(world), b.start(world));
}
Task<> in_any(World& world, const Operation& a, const Operation& b) {
  co_await when_any(a.start(world), b.start(world));
}
Task<> group_of(TaskGroup& group, World& world, const Operation& a, const Operation& b) {
  group.submit(a.start(world), {.priority = Priority::high});
  co_await b.start(world);
}
Task<> in_group(World& world, const Operation& a, const Operation& b) {
  co_await with_task_group(group_of, std::ref(world), std::cref(a), std::cref(b));
}

struct Combinator {
  const char* name;
  Task<> (*around)(World&, const Operation&, const Operation&);
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
          sweep([&](Executor& executor, World& world) { executor.submit(in_turn(world, a, b)); });
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

TEST_CASE("Cancel sweep: every pair of waits, one inside the other, in three threads that contend") {
  for (const Operation& a : operations) {
    for (const Operation& b : operations) {
      CAPTURE(a.name, b.name);
      CHECK(sweep([&](Executor& executor, World& world) {
        executor.submit(a.start_around(b, world));
        executor.submit(a.start_around(b, world), {.priority = Priority::high});
        executor.submit(a.start_around(b, world));
      }));
    }
  }
}

TEST_CASE("Cancel sweep: every pair of waits in every combinator, beside threads that contend") {
  for (const Combinator& combinator : combinators) {
    for (const Operation& a : operations) {
      for (const Operation& b : operations) {
        CAPTURE(combinator.name, a.name, b.name);
        CHECK(sweep([&](Executor& executor, World& world) {
          executor.submit(combinator.around(world, a, b));
          executor.submit(combinator.around(world, b, a), {.priority = Priority::low});
          executor.submit(a.start(world));
        }));
      }
    }
  }
}

}  // namespace
