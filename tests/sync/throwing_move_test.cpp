#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/tests/executor/timeline.hpp>

// An item whose move throws goes wrong for whoever makes the move, and for nobody else.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Timeline;
using bide::test::virtual_time;

class BadMove : public std::runtime_error {
 public:
  BadMove() : std::runtime_error("a move throws") {}
};

int alive = 0;
int moves_until_throw = -1;  // below 0: none throws

class Fragile {
 public:
  explicit Fragile(int given) : number(given) { ++alive; }
  Fragile(Fragile&& other) : number(other.number) {
    if (moves_until_throw-- == 0) throw BadMove();
    other.number = 0;
    ++alive;
  }
  Fragile& operator=(Fragile&&) = delete;
  ~Fragile() { --alive; }

  int number;  // 0: moved from
};

Task<> sends(Channel<Fragile>& channel, int number, Timeline& timeline) {
  const std::string name = std::to_string(number);
  Fragile item(number);
  try {
    co_await channel.send(std::move(item));
    timeline.push_back("sent " + name);
  } catch (const BadMove&) {
    timeline.push_back(item.number == number ? name + " kept" : name + " lost");
  }
}

Task<> receives(Channel<Fragile>& channel, int count, Timeline& timeline) {
  for (int i = 0; i < count; ++i) {
    try {
      const std::optional<Fragile> item = co_await channel.receive();
      timeline.push_back(item ? "got " + std::to_string(item->number) : "end");
    } catch (const BadMove&) {
      timeline.push_back("receive failed");
    }
  }
}

struct Story {
  explicit Story(std::size_t capacity) : channel(std::in_place, capacity) {
    alive = 0;
    moves_until_throw = -1;
  }
  // Everything that was made is destroyed, once.
  ~Story() {
    executor.reset();
    channel.reset();
    CHECK(alive == 0);
  }

  Timeline timeline;
  std::optional<Channel<Fragile>> channel;
  std::optional<Executor> executor{std::in_place, virtual_time};
};

}  // namespace

TEST_CASE("Channel: a send whose move throws leaves the item with the sender, and the channel as it was") {
  Story story(2);
  moves_until_throw = 0;
  story.executor->submit(sends(*story.channel, 1, story.timeline));
  story.executor->submit(sends(*story.channel, 2, story.timeline));
  story.executor->submit(receives(*story.channel, 1, story.timeline));
  story.executor->run();
  CHECK(story.timeline == Timeline{"1 kept", "sent 2", "got 2"});
  CHECK(story.channel->empty());
}

TEST_CASE("Channel: a hand-over whose move throws is the sender's loss, the receiver goes on waiting") {
  Story story(0);
  story.executor->submit(receives(*story.channel, 1, story.timeline));
  story.executor->run_for(1ms);
  moves_until_throw = 0;
  story.executor->submit(sends(*story.channel, 1, story.timeline));
  story.executor->run_for(1ms);
  CHECK(story.timeline == Timeline{"1 kept"});
  CHECK(story.channel->waiting_receivers() == 1);
  story.executor->submit(sends(*story.channel, 2, story.timeline));
  story.executor->run();
  CHECK(story.timeline == Timeline{"1 kept", "sent 2", "got 2"});
}

TEST_CASE("Channel: a receive whose move out of the buffer throws leaves the item there") {
  Story story(1);
  story.executor->submit(sends(*story.channel, 1, story.timeline));
  story.executor->run();
  moves_until_throw = 0;
  story.executor->submit(receives(*story.channel, 2, story.timeline));
  story.executor->run();
  CHECK(story.timeline == Timeline{"sent 1", "receive failed", "got 1"});
}

TEST_CASE("Channel: a receive whose move from a waiting sender throws leaves that one waiting") {
  Story story(0);
  story.executor->submit(sends(*story.channel, 1, story.timeline));
  story.executor->run_for(1ms);
  moves_until_throw = 0;
  story.executor->submit(receives(*story.channel, 2, story.timeline));
  story.executor->run();
  CHECK(story.timeline == Timeline{"receive failed", "got 1", "sent 1"});
}

// The receiver has its item when the next one of a waiting sender does not come into the buffer.
TEST_CASE(
    "Channel: where a receive fails to move the next item in, its own is lost and the sender waits on") {
  const std::size_t capacity = GENERATE(1U, 2U);
  Story story(capacity);
  const int last = static_cast<int>(capacity) + 1;
  for (int number = 1; number <= last; ++number) {
    story.executor->submit(sends(*story.channel, number, story.timeline));
  }
  story.executor->run_for(1ms);
  REQUIRE(story.channel->waiting_senders() == 1);
  story.timeline.clear();
  moves_until_throw = 1;  // the first is that of item 1, out of the buffer
  story.executor->submit(receives(*story.channel, 1, story.timeline));
  story.executor->run_for(1ms);
  CHECK(story.timeline == Timeline{"receive failed"});
  CHECK(story.channel->waiting_senders() == 1);
  CHECK(story.channel->size() == capacity - 1);

  Fragile late(9);
  CHECK(!story.channel->try_send(std::move(late)));  // the sender that waits goes first
  CHECK(late.number == 9);
  story.executor->submit(receives(*story.channel, last - 1, story.timeline));
  story.executor->run();
  CHECK(story.channel->empty());
  CHECK(story.channel->waiting_senders() == 0);
  const std::string of_last = std::to_string(last);
  CHECK(std::count(story.timeline.begin(), story.timeline.end(), "got " + of_last) == 1);
  CHECK(std::count(story.timeline.begin(), story.timeline.end(), "sent " + of_last) == 1);
}

TEST_CASE("Channel: a receiver whose own move of what it was handed throws has had the item") {
  Story story(0);
  story.executor->submit(receives(*story.channel, 1, story.timeline));
  story.executor->run_for(1ms);
  story.executor->submit(sends(*story.channel, 1, story.timeline));
  moves_until_throw = 1;  // the second: out of the wait, when the receiver runs
  story.executor->run();
  CHECK(story.timeline == Timeline{"sent 1", "receive failed"});
  CHECK(story.channel->waiting_receivers() == 0);
}

TEST_CASE("select: an arm whose move throws, throws, and the other arms have had no effect") {
  Story story(1);
  Channel<Fragile> other(0);
  story.executor->submit(sends(*story.channel, 1, story.timeline));
  story.executor->run();
  moves_until_throw = 0;
  story.executor->submit({}, [&]() -> Task<> {
    try {
      const auto first = co_await select(receiving(other), receiving(*story.channel));
      story.timeline.push_back("arm " + std::to_string(first.index));
    } catch (const BadMove&) {
      story.timeline.push_back("select failed");
    }
  });
  story.executor->submit(receives(*story.channel, 1, story.timeline));
  story.executor->run();
  CHECK(story.timeline == Timeline{"sent 1", "select failed", "got 1"});
  CHECK(other.waiting_receivers() == 0);
}
