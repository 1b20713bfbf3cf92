#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/tests/executor/timeline.hpp>
#include <bide/tests/sync/told.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::tells_at_next_wait;
using bide::test::Timeline;
using bide::test::virtual_time;

std::string digit(std::size_t index) { return std::to_string(index); }

}  // namespace

TEST_CASE("select: waits for the first of several, and gives its index and value") {
  Executor executor(virtual_time);
  Channel<std::string> channel(0);
  Event stop;
  Timeline timeline;
  Handle<int> child = executor.submit({}, []() -> Task<int> {
    co_await Sleep(10ms);
    co_return 42;
  });
  executor.submit({}, [&]() -> Task<> {
    bool joined = false;
    for (int i = 0; i < 4; ++i) {
      if (!joined) {
        const auto selected = co_await select(receiving(channel), waiting(stop), joining(child), Sleep(7ms));
        timeline.push_back(at_now(digit(selected.index)));
        if (selected.index == 0) timeline.push_back(*std::get<0>(selected.value));
        if (selected.index == 2) timeline.push_back(std::to_string(std::get<2>(selected.value)));
        joined = selected.index == 2;
      } else {
        const auto selected = co_await select(receiving(channel), waiting(stop));
        timeline.push_back(at_now(digit(selected.index)));
      }
    }
  });
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(1ms);
    co_await channel.send("item");
    co_await Sleep(20ms);
    stop.set();
  });
  executor.run();
  CHECK(timeline == Timeline{"0@1", "item", "3@8", "2@10", "42", "1@21"});
}

TEST_CASE("select: of several that are ready the lowest index, and the others stay as they are") {
  Executor executor(virtual_time);
  Channel<int> channel(2);
  Channel<int> other(2);
  Semaphore permits(1);
  Timeline timeline;
  CHECK((channel.try_send(1) && other.try_send(2)));
  executor.submit({}, [&]() -> Task<> {
    const auto first =
        co_await select([&] { return permits.acquire(); }, receiving(channel), sending(other, 3));
    timeline.push_back(digit(first.index));
    const auto second = co_await select(sending(other, 3), receiving(channel), Sleep(0ms));
    timeline.push_back(digit(second.index));
  });
  executor.run();
  CHECK(timeline == Timeline{"0", "0"});
  CHECK(permits.value() == 0);
  CHECK(channel.size() == 1);
  CHECK(other.size() == 2);
}

TEST_CASE("select_fair: begins at the next index each time") {
  Executor executor(virtual_time);
  Event a;
  Event b;
  Event never;
  a.set();
  b.set();
  std::string taken;
  SECTION("counted by the executor") {
    executor.submit({}, [&]() -> Task<> {
      for (int i = 0; i < 6; ++i) {
        const auto selected = co_await select_fair(waiting(a), waiting(b), waiting(never));
        taken += digit(selected.index);
      }
    });
  }
  SECTION("counted for each select, where two alternate") {
    executor.submit({}, [&]() -> Task<> {
      SelectTurn turn;
      for (int i = 0; i < 6; ++i) {
        const auto selected = co_await select_fair(turn, waiting(a), waiting(b), waiting(never));
        taken += digit(selected.index);
        static_cast<void>(co_await select_fair(waiting(a), waiting(b)));
      }
    });
  }
  executor.run();
  CHECK(taken == "010010");  // the third begins at an arm that is not ready
}

// N5
TEST_CASE("select: two that offer to each other over two channels make exactly one exchange") {
  Executor executor(virtual_time);
  Channel<int> a(0);
  Channel<int> b(0);
  Timeline timeline;
  const auto chooses = [&](const char* name, Channel<int>& out, Channel<int>& in) -> Task<> {
    const auto selected = co_await select(sending(out, 1), receiving(in));
    timeline.push_back(std::string(name) + digit(selected.index));
  };
  executor.submit(chooses("first ", a, b));
  executor.submit(chooses("second ", b, a));
  executor.run();
  CHECK(timeline == Timeline{"second 0", "first 1"});
  CHECK(a.waiting_senders() + a.waiting_receivers() + b.waiting_senders() + b.waiting_receivers() == 0);
}

// N5
TEST_CASE("select: the same channel twice, as sender and receiver, does not meet itself") {
  Executor executor(virtual_time);
  Channel<int> channel(0);
  Timeline timeline;
  const auto chooses = [&](int value) -> Task<> {
    const auto selected = co_await select(sending(channel, value), receiving(channel), receiving(channel));
    timeline.push_back(std::to_string(value) + " took " + digit(selected.index));
  };
  executor.submit(chooses(1));
  CHECK_THROWS_AS(executor.run(), Deadlock);
  executor.submit(chooses(2));
  executor.run();
  CHECK(timeline == Timeline{"2 took 0", "1 took 1"});
  CHECK(channel.waiting_senders() + channel.waiting_receivers() == 0);
}

TEST_CASE("select: a cancel, before or during the wait, leaves every arm untouched") {
  Executor executor(virtual_time);
  Channel<std::unique_ptr<int>> full(0);
  Channel<int> ready(1);
  Mutex mutex;
  Timeline timeline;
  const bool enters_cancelled = GENERATE(true, false);
  std::optional<Handle<>> self;
  if (enters_cancelled) CHECK(ready.try_send(1));
  self.emplace(executor.submit({}, [&]() -> Task<> {
    auto item = std::make_unique<int>(1);
    if (enters_cancelled) self->cancel();
    try {
      if (enters_cancelled) {
        static_cast<void>(
            co_await select(sending(full, std::move(item)), receiving(ready), [&] { return mutex.lock(); }));
      } else {
        static_cast<void>(co_await select(sending(full, std::move(item)), receiving(ready), Sleep(1h)));
      }
    } catch (const Cancelled&) {
      timeline.push_back(item ? "cancelled, kept" : "cancelled, lost");
    }
  }));
  executor.run_for(1ms);
  self->cancel();
  executor.run();
  CHECK(timeline == Timeline{"cancelled, kept"});
  CHECK(ready.size() == (enters_cancelled ? 1 : 0));
  CHECK(!mutex.locked());
  CHECK(full.waiting_senders() + ready.waiting_receivers() + mutex.waiters() == 0);
  CHECK(executor.now() == Instant(1ms));
}

TEST_CASE("select: an arm that was served before the cancel is the one, and the cancel shows later") {
  Executor executor(virtual_time);
  Channel<int> channel(0);
  Timeline timeline;
  Handle<> waiter = executor.submit({}, [&]() -> Task<> {
    const auto selected = co_await select(Sleep(5ms), receiving(channel));
    timeline.push_back(digit(selected.index));
    co_await tells_at_next_wait(timeline);
  });
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(1ms);
    co_await channel.send(1);
    waiter.cancel();
  });
  executor.run();
  CHECK(timeline == Timeline{"1", "next wait cancelled@1"});
}

TEST_CASE("select: errors of an arm are thrown by the select: a closed channel, a failed thread") {
  Executor executor(virtual_time);
  Channel<int> channel(0);
  Timeline timeline;
  Handle<> failing = executor.submit({}, []() -> Task<> {
    co_await Sleep(1ms);
    throw std::runtime_error("failed");
  });
  executor.submit({}, [&]() -> Task<> {
    try {
      static_cast<void>(co_await select(sending(channel, 1), joining(failing)));
    } catch (const std::runtime_error& error) {
      timeline.push_back(error.what());
    }
    channel.close();
    try {
      static_cast<void>(co_await select(sending(channel, 1), Sleep(1ms)));
    } catch (const ChannelClosed&) {
      timeline.push_back("closed");
    }
    const auto drained = co_await select(Sleep(1ms), receiving(channel));
    timeline.push_back(digit(drained.index));
  });
  executor.run();
  CHECK(timeline == Timeline{"failed", "closed", "1"});
}

TEST_CASE("select: when one arm is served, those who waited behind another of its arms are let through") {
  Executor executor(virtual_time);
  Semaphore semaphore(1);
  Event event;
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    const auto selected = co_await select([&] { return semaphore.acquire(5); },
                                          [&] { return semaphore.acquire(3); }, waiting(event));
    timeline.push_back(digit(selected.index));
  });
  executor.submit({}, [&]() -> Task<> {
    co_await semaphore.acquire();
    timeline.push_back("acquired");
  });
  executor.run_for(1ms);
  CHECK(semaphore.waiters() == 3);
  event.set();
  executor.run();
  CHECK(timeline == Timeline{"acquired", "2"});
  CHECK(semaphore.value() == 0);
}

TEST_CASE(
    "select: a mutex that an arm was handed is unlocked by its guard, also when the executor goes first") {
  Mutex mutex;
  Timeline timeline;
  {
    Executor executor(virtual_time);
    executor.submit({}, [&]() -> Task<> {
      const Mutex::Guard guard = co_await mutex.lock();
      co_await Sleep(5ms);
    });
    executor.submit({}, [&]() -> Task<> {
      const auto selected = co_await select(Sleep(1h), [&] { return mutex.lock(); });
      timeline.push_back(digit(selected.index) + (mutex.locked() ? " locked" : " free"));
    });
    SECTION("it runs") { executor.run(); }
    SECTION("it does not") {
      executor.run_for(1ms);
      while (mutex.waiters() > 0) executor.run_one();
    }
  }
  CHECK((timeline.empty() || timeline == Timeline{"1 locked"}));
  CHECK(!mutex.locked());
}

TEST_CASE("select: a Deadlock lists what it waits for, and arms may go before the executor does") {
  Executor executor(virtual_time);
  Channel<int> channel(0, "work");
  Event stop("stop");
  executor.submit({},
                  [&]() -> Task<> { static_cast<void>(co_await select(receiving(channel), waiting(stop))); });
  CHECK_THROWS_WITH(executor.run(),
                    Catch::Contains("waits for the first of: an item on channel \"work\", event \"stop\""));
}
