#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/executor/testing/cancel_sweep.hpp>
#include <bide/executor/testing/schedules.hpp>
#include <bide/tests/executor/timeline.hpp>

// Every primitive, alone and with every other one inside: a cancel at each point of each thread, and every order
// of equals.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::AtExit;

enum class Kind : std::uint8_t {
  mutex,
  reader,
  writer,
  semaphore,
  condition,
  limiter,
  exchange,
  event,
  barrier
};
constexpr std::size_t kind_count = 9;
constexpr const char* kind_names[kind_count] = {"mutex",   "reader",   "writer", "semaphore", "condition",
                                                "limiter", "exchange", "event",  "barrier"};

struct Things {
  Mutex mutex;
  SharedMutex shared_mutex;
  Semaphore semaphore{2};
  Mutex tokens_mutex;
  ConditionVariable tokens_changed;
  int tokens = 1;
  RateLimiter limiter{1000, 1};
  Channel<int> channel{0};
  int sent = 0;
  int received = 0;
  Event event;
  Barrier barrier{2};

  bool in_order() const {
    return !mutex.locked() && !shared_mutex.locked() && shared_mutex.readers() == 0 &&
           semaphore.value() == 2 && !tokens_mutex.locked() && tokens == 1 && sent == received &&
           mutex.waiters() == 0 && shared_mutex.waiters() == 0 && semaphore.waiters() == 0 &&
           tokens_changed.waiters() == 0 && limiter.waiters() == 0 && channel.waiting_senders() == 0 &&
           channel.waiting_receivers() == 0 && event.waiters() == 0 && barrier.waiters() == 0;
  }
};

struct World {
  std::vector<Kind> kinds;  // one inside the other
  std::array<Things, 2> things;

  bool in_order() const { return things[0].in_order() && things[1].in_order(); }
};

Task<> use(World& world, std::size_t depth);

Task<> takes_token(World& world, Things& things, std::size_t depth) {
  {
    Mutex::Guard guard = co_await things.tokens_mutex.lock();
    co_await things.tokens_changed.wait(guard, [&things] { return things.tokens > 0; });
    --things.tokens;
  }
  const AtExit give_back([&things] {
    ++things.tokens;
    things.tokens_changed.notify_one();
  });
  co_await use(world, depth + 1);
}

Task<> use(World& world, std::size_t depth) {
  co_await Yield();
  if (depth == world.kinds.size()) co_return;
  Things& things = world.things[depth];
  switch (world.kinds[depth]) {
    case Kind::mutex: {
      const Mutex::Guard guard = co_await things.mutex.lock();
      co_await use(world, depth + 1);
      break;
    }
    case Kind::reader:
    case Kind::writer: {
      SharedMutex::Guard guard;
      if (world.kinds[depth] == Kind::reader) guard = co_await things.shared_mutex.lock_shared();
      if (world.kinds[depth] == Kind::writer) guard = co_await things.shared_mutex.lock();
      co_await use(world, depth + 1);
      break;
    }
    case Kind::semaphore: {
      co_await things.semaphore.acquire(2);
      const AtExit give_back([&things] { things.semaphore.release(2); });
      co_await use(world, depth + 1);
      break;
    }
    case Kind::condition:
      co_await takes_token(world, things, depth);
      break;
    case Kind::limiter: {
      co_await things.limiter.acquire();
      co_await use(world, depth + 1);
      break;
    }
    case Kind::exchange: {
      const auto selected =
          co_await select(sending(things.channel, 1), receiving(things.channel), Sleep(1ms));
      if (selected.index == 0) ++things.sent;
      if (selected.index == 1) ++things.received;
      co_await use(world, depth + 1);
      break;
    }
    case Kind::event: {
      static_cast<void>(co_await select(waiting(things.event), Sleep(1ms)));
      things.event.set();
      co_await use(world, depth + 1);
      break;
    }
    case Kind::barrier: {
      static_cast<void>(co_await select([&things] { return things.barrier.arrive_and_wait(); }, Sleep(1ms)));
      co_await use(world, depth + 1);
      break;
    }
  }
}

auto three_use(const std::vector<Kind>& kinds) {
  return [kinds](Executor& executor) {
    auto world = std::make_shared<World>();
    world->kinds = kinds;
    executor.submit(use(*world, 0));
    executor.submit(use(*world, 0), {.priority = Priority::high});
    executor.submit(use(*world, 0));
    return [world] { return world->in_order(); };
  };
}

}  // namespace

TEST_CASE("Sync: a cancel at any point of any thread, in each primitive and each pair, leaves all in order") {
  constexpr testing::CancelSweepOptions any_thread{.victim = testing::CancelSweepOptions::each_thread};
  for (std::size_t outer = 0; outer < kind_count; ++outer) {
    INFO(kind_names[outer]);
    const auto alone = testing::for_each_cancel_point(three_use({static_cast<Kind>(outer)}), any_thread);
    CHECK(alone);
    CHECK(alone.points > 6);
    for (std::size_t inner = 0; inner < kind_count; ++inner) {
      INFO("and in it " << kind_names[inner]);
      CHECK(testing::for_each_cancel_point(three_use({static_cast<Kind>(outer), static_cast<Kind>(inner)}),
                                           any_thread));
    }
  }
}

// S1, S2 under every order: one holds, two wait, one of those is cancelled, in whatever order they come.
TEST_CASE("Sync: a hand-over to a waiter that is cancelled is never stuck, under every order of equals") {
  for (const Kind kind : {Kind::mutex, Kind::writer, Kind::semaphore, Kind::condition}) {
    INFO(kind_names[static_cast<std::size_t>(kind)]);
    const auto report = testing::for_each_schedule([kind](Executor& executor) {
      World world;
      world.kinds = {kind};
      executor.submit(use(world, 0));
      Handle<> b = executor.submit(use(world, 0));
      executor.submit({}, [&b]() -> Task<> {
        co_await Yield();
        b.cancel();
      });
      executor.submit(use(world, 0));
      executor.run();
      if (!world.in_order()) throw std::runtime_error("something is lost");
    });
    INFO(report.text());
    CHECK(report.failures.empty());
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
