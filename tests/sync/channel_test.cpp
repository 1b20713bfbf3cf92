#include <catch2/catch.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/tests/executor/timeline.hpp>
#include <bide/tests/sync/told.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Counted;
using bide::test::tells_at_next_wait;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> sends(Channel<int>& channel, int from, int count, Timeline& timeline) {
  try {
    for (int i = from; i < from + count; ++i) {
      co_await channel.send(i);
      timeline.push_back("sent " + std::to_string(i));
    }
  } catch (const ChannelClosed&) {
    timeline.push_back("closed");
  }
}

Task<> receives(Channel<int>& channel, int count, Timeline& timeline) {
  for (int i = 0; i < count; ++i) {
    const std::optional<int> item = co_await channel.receive();
    timeline.push_back(item ? "got " + std::to_string(*item) : "end");
  }
}

}  // namespace

TEST_CASE("Channel: a sender runs ahead by the capacity") {
  Executor executor(virtual_time);
  Channel<int> channel(2);
  Timeline timeline;
  executor.submit(sends(channel, 1, 4, timeline));
  executor.submit(receives(channel, 4, timeline));
  executor.run();
  CHECK(timeline == Timeline{"sent 1", "sent 2", "got 1", "got 2", "got 3", "sent 3", "sent 4", "got 4"});
}

TEST_CASE("Channel: with capacity 0 a send is done when a receiver has the item") {
  Executor executor(virtual_time);
  Channel<int> channel(0);
  Timeline timeline;
  CHECK(!channel.try_send(0));
  CHECK(!channel.try_receive());
  executor.submit(sends(channel, 1, 2, timeline));
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(5ms);
    co_await receives(channel, 2, timeline);
  });
  executor.run();
  CHECK(timeline == Timeline{"got 1", "sent 1", "sent 2", "got 2"});
}

// N1
TEST_CASE("Channel: what was buffered before the close is received, then nullopt for ever") {
  Executor executor(virtual_time);
  Channel<int> channel(4);
  Timeline timeline;
  executor.submit({}, [&]() -> Task<> {
    co_await sends(channel, 1, 3, timeline);
    channel.close();
    channel.close();
    co_await receives(channel, 5, timeline);
    co_await sends(channel, 4, 1, timeline);
    timeline.push_back(channel.try_send(5) ? "sent 5" : "refused");
  });
  executor.run();
  CHECK(timeline ==
        Timeline{"sent 1", "sent 2", "sent 3", "got 1", "got 2", "got 3", "end", "end", "closed", "refused"});
}

// N2
TEST_CASE("Channel: a consumer gives up with items left: the producer is told at once, leftovers go once") {
  int alive = 0;
  {
    Executor executor(virtual_time);
    Channel<Counted> channel(2);
    Timeline timeline;
    executor.submit({}, [&]() -> Task<> {
      try {
        for (int i = 0; i < 9; ++i) co_await channel.send(Counted(alive));
      } catch (const ChannelClosed&) {
        timeline.push_back(at_now("producer is told"));
      }
    });
    executor.submit({}, [&]() -> Task<> {
      try {
        static_cast<void>(co_await channel.receive());
        co_await Sleep(5ms);
        throw std::runtime_error("gives up");
      } catch (const std::runtime_error&) {
        channel.close();
      }
    });
    executor.run();
    CHECK(timeline == Timeline{"producer is told@5"});
    CHECK(channel.size() == 2);
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
}

// N3
TEST_CASE("Channel: a send wakes the receiver of its own channel only") {
  Executor executor(virtual_time);
  Channel<int> first(1);
  Channel<int> second(1);
  Channel<int> third(1);
  Timeline timeline;
  for (Channel<int>* channel : {&first, &second, &third}) executor.submit(receives(*channel, 1, timeline));
  executor.run_for(1ms);
  CHECK(second.try_send(2));
  executor.run_for(1ms);
  CHECK(timeline == Timeline{"got 2"});
  CHECK(third.try_send(3));
  executor.run_for(1ms);
  CHECK(timeline == Timeline{"got 2", "got 3"});
  first.close();
  executor.run();
  CHECK(timeline == Timeline{"got 2", "got 3", "end"});
}

namespace {

// N4: tokio #6603, #8062, emptiness and length wrong at internal edges and while closing.
bool agrees_with_deque(std::size_t capacity, std::size_t level, std::size_t closed_at) {
  Channel<std::unique_ptr<int>> channel(capacity);
  std::deque<int> model;
  int next = 0;
  bool agree = true;
  const auto compare = [&] {
    agree = agree && channel.size() == model.size() && channel.empty() == model.empty() &&
            channel.full() == (model.size() == capacity);
  };
  const auto fill = [&] {
    while (model.size() < level) {
      agree = agree && channel.try_send(std::make_unique<int>(next));
      model.push_back(next++);
      compare();
    }
    if (level == capacity) agree = agree && !channel.try_send(std::make_unique<int>(-1));
  };
  const auto take = [&] {
    const auto item = channel.try_receive();
    agree = agree && item.has_value() == !model.empty() && (!item || **item == model.front());
    if (!model.empty()) model.pop_front();
    compare();
  };
  for (std::size_t place = 0; place < closed_at; ++place) {
    fill();
    take();
  }
  fill();
  channel.close();
  compare();
  agree = agree && !channel.try_send(std::make_unique<int>(-1));
  for (std::size_t left = level + 1; left > 0; --left) take();
  return agree;
}

}  // namespace

TEST_CASE("Channel: size, empty and full agree with a deque at every fill level and place, closed at each") {
  for (const std::size_t capacity : {1U, 2U, 3U, 31U, 32U, 33U, 64U, 65U}) {
    for (std::size_t level = 0; level <= capacity; ++level) {
      for (std::size_t closed_at = 0; closed_at <= capacity + 1; ++closed_at) {
        if (agrees_with_deque(capacity, level, closed_at)) continue;
        FAIL("capacity " << capacity << ", level " << level << ", closed at " << closed_at);
      }
    }
  }
}

TEST_CASE("Channel: senders that wait go by class, then as they came; no late send comes between") {
  Executor executor(virtual_time);
  Channel<std::string> channel(1);
  Timeline timeline;
  const auto sends_text = [&](std::string text) -> Task<> { co_await channel.send(std::move(text)); };
  executor.submit(sends_text("buffered"));
  executor.submit(sends_text("a"));
  executor.submit(sends_text("b"));
  executor.submit(sends_text("high"), {.priority = Priority::high});
  executor.submit({.priority = Priority::low}, [&]() -> Task<> {
    for (int i = 0; i < 5; ++i) {
      timeline.push_back(*co_await channel.receive());
      if (i == 0) submit(sends_text("late"));
      co_await Yield();
    }
  });
  executor.run();
  CHECK(timeline == Timeline{"high", "buffered", "a", "b", "late"});
}

TEST_CASE("Channel: a send that fails leaves the item with the caller") {
  Executor executor(virtual_time);
  Channel<std::unique_ptr<int>> channel(0);
  Timeline timeline;
  const auto sends_and_looks = [&]() -> Task<> {
    auto item = std::make_unique<int>(7);
    try {
      co_await channel.send(std::move(item));
    } catch (const ChannelClosed&) {
      timeline.push_back("closed");
    } catch (const Cancelled&) {
      timeline.push_back("cancelled");
    }
    timeline.push_back(item ? "kept" : "lost");
  };
  Handle<> sender = executor.submit(sends_and_looks());
  executor.run_for(1ms);
  SECTION("cancelled") {
    sender.cancel();
    executor.run();
    CHECK(timeline == Timeline{"cancelled", "kept"});
  }
  SECTION("closed") {
    channel.close();
    executor.run();
    CHECK(timeline == Timeline{"closed", "kept"});
  }
  auto untried = std::make_unique<int>(8);
  CHECK(!channel.try_send(std::move(untried)));
  CHECK(untried != nullptr);
}

TEST_CASE("Channel: an item that was handed over before the cancel is received") {
  Executor executor(virtual_time);
  Channel<int> channel(0);
  Timeline timeline;
  Handle<> receiver = executor.submit({}, [&]() -> Task<> {
    co_await receives(channel, 1, timeline);
    co_await tells_at_next_wait(timeline);
  });
  executor.run_for(1ms);
  CHECK(channel.try_send(1));
  receiver.cancel();
  executor.run();
  CHECK(timeline == Timeline{"got 1", "next wait cancelled@1"});
  CHECK(channel.waiting_receivers() == 0);
}

TEST_CASE(
    "Channel: close wakes those who wait on either side, each once; a Deadlock says who could not go on") {
  Executor executor(virtual_time);
  Channel<int> empty(1, "empty");
  Channel<int> full(0, "full");
  Timeline timeline;
  executor.submit(receives(empty, 1, timeline));
  executor.submit(sends(full, 1, 1, timeline));
  CHECK_THROWS_WITH(executor.run(), Catch::Contains("waits for an item on channel \"empty\"") &&
                                        Catch::Contains("waits for a receiver on channel \"full\""));
  empty.close();
  full.close();
  executor.run();
  CHECK(timeline == Timeline{"end", "closed"});
}
