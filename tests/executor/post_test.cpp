#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <bide/executor/executor.hpp>

#include "../random.hpp"
#include "../sanitizer.hpp"
#include "gate.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Gate;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> passes(Gate& gate) { co_await gate.pass(); }
Task<> say(Timeline& timeline, std::string what) {
  timeline.push_back(what);
  co_return;
}

TEST_CASE("Post: functions run in the loop, in the order of the calls, behind what is ready") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(say(timeline, "thread"));
  CHECK(executor.post([&timeline] { timeline.push_back("first"); }));
  executor.post([&timeline] { timeline.push_back("second"); });
  executor.post([&timeline] { timeline.push_back("urgent"); }, Priority::critical);
  executor.run();
  CHECK(timeline == Timeline{"thread", "urgent", "first", "second"});
}

TEST_CASE("Post: a post submits threads and posts again, outside of any thread") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.post([&timeline] {
    timeline.push_back(running.thread == nullptr ? "no thread" : "in a thread");
    Executor::current().post([&timeline] { timeline.push_back("nested"); });
    submit(say(timeline, "thread"));
  });
  executor.run();
  CHECK(timeline == Timeline{"no thread", "nested", "thread"});
}

TEST_CASE("Post: those of one look at the outside go by source, and within one in the order of the calls") {
  Timeline timeline;
  Executor executor(virtual_time);
  const Poster a = executor.poster();
  const Poster b = executor.poster();
  const Poster same_as_b = b;
  b.post([&timeline] { timeline.push_back("b1"); });
  a.post([&timeline] { timeline.push_back("a1"); });
  same_as_b.post([&timeline] { timeline.push_back("b2"); });
  executor.post([&timeline] { timeline.push_back("executor"); });
  a.post([&timeline] { timeline.push_back("a2"); });
  b.post([&timeline] { timeline.push_back("b3"); });
  executor.run();
  CHECK(timeline == Timeline{"executor", "a1", "a2", "b1", "b2", "b3"});
}

TEST_CASE("Post: a function may be move-only and is destroyed once, run or refused") {
  int got = 0;
  std::optional<Poster> poster;
  {
    Executor executor(virtual_time);
    poster = executor.poster();
    CHECK(poster->post([value = std::make_unique<int>(4), &got] { got = *value; }));
    executor.run();
  }
  CHECK(got == 4);
  int alive = 0;
  CHECK_FALSE(poster->post([counted = test::Counted(alive)] { static_cast<void>(counted); }));
  CHECK(alive == 0);
}

// Throws when it is moved for the last time, out of the queue.
struct ThrowsOutOfTheQueue {
  int& alive;
  int moves_left;
  bool& ran;
  ThrowsOutOfTheQueue(int& count, int moves, bool& flag) : alive(count), moves_left(moves), ran(flag) {
    ++alive;
  }
  ThrowsOutOfTheQueue(ThrowsOutOfTheQueue&& other)
      : alive(other.alive), moves_left(other.moves_left - 1), ran(other.ran) {
    if (moves_left < 0) throw std::string("moved");
    ++alive;
  }
  ~ThrowsOutOfTheQueue() { --alive; }
  void operator()() const { ran = true; }
};

TEST_CASE("Post: a function that can't be moved out of the queue fails like one that throws, and is freed") {
  int alive = 0;
  bool ran = false;
  int moves = 0;
  for (bool failed = true; failed; ++moves) {  // with more moves it comes further, until it runs
    Executor executor(virtual_time);
    failed = false;
    try {
      executor.post(ThrowsOutOfTheQueue(alive, moves, ran));
      executor.run();
    } catch (const std::string&) {
      failed = true;
    }
    CHECK(alive == 0);
    CHECK(ran == !failed);
  }
  CHECK(moves > 1);
}

// Posts another of its kind, and notes what the pool keeps before and after.
struct PostsItsLike {
  std::vector<std::size_t>& kept;
  std::size_t left;
  void operator()() const {
    if (left == 0) return;
    kept.push_back(frame_pool.kept_bytes());
    Executor::current().post(PostsItsLike{kept, left - 1});
    kept.push_back(frame_pool.kept_bytes());
  }
};

TEST_CASE("Post: what a posted function posts itself takes the block that it has left") {
  std::vector<std::size_t> kept;
  frame_pool.limit_kept_bytes(0);  // empty, whatever ran before
  frame_pool.limit_kept_bytes(std::size_t{256}
                              << 20U);  // with AddressSanitizer it was zero, and is again below
  Executor executor(virtual_time);
  executor.post(PostsItsLike{kept, 3});
  executor.run();
  REQUIRE(kept.size() == 6);
  CHECK(kept[3] < kept[2]);
  CHECK(kept[5] < kept[4]);
  if (test::address_sanitizer) frame_pool.limit_kept_bytes(0);
}

TEST_CASE("Post: another OS thread wakes an executor that has nothing else to do [threads]", "[threads]") {
  for (const TimeMode mode : {TimeMode::real_time, TimeMode::virtual_time}) {
    Gate gate;
    Executor executor({.time = mode});
    executor.submit(passes(gate));
    std::thread other([&gate, poster = executor.poster()] {
      std::this_thread::sleep_for(2ms);
      poster.post([&gate] { gate.open(); });
    });
    executor.run();
    other.join();
    CHECK(executor.size() == 0);
  }
}

struct Turn {
  int source;
  int number;
};

TEST_CASE("Post: of several OS threads all run, those of each in the order of its calls [threads]",
          "[threads]") {
  constexpr int sources = 4;
  constexpr int each = 5'000;
  std::vector<Turn> turns;
  Gate gate;
  Executor executor;
  executor.submit(passes(gate));
  std::vector<std::thread> threads;
  for (int source = 0; source < sources; ++source) {
    threads.emplace_back([&turns, &gate, source, poster = executor.poster()] {
      for (int number = 0; number < each; ++number) {
        poster.post([&turns, &gate, source, number] {
          turns.push_back({source, number});
          if (turns.size() == sources * each) gate.open();
        });
      }
    });
  }
  executor.run();
  for (std::thread& thread : threads) thread.join();
  REQUIRE(turns.size() == sources * each);
  std::vector<int> next(sources, 0);
  bool in_order = true;
  for (const Turn& turn : turns)
    in_order = in_order && turn.number == next[static_cast<std::size_t>(turn.source)]++;
  CHECK(in_order);
}

// libuv #2226: the wake-up handle was closed by the loop while another thread was inside the wake call.
TEST_CASE("Post: each is run or refused, never both, while the executor ends at any moment [threads]",
          "[threads]") {
  constexpr int rounds = test::sanitized ? 1'000 : 10'000;
  test::Random random(11);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> destroyed = 0;
    int ran = 0;
    int taken = 0;
    int refused = 0;
    std::optional<Executor> executor(std::in_place, ExecutorOptions{.deadlock_after = 0s});
    std::thread other([poster = executor->poster(), &destroyed, &ran, &taken, &refused] {
      while (refused < 3) {
        auto token = std::shared_ptr<int>(new int(0), [&destroyed](int* number) {
          delete number;
          ++destroyed;
        });
        if (poster.post([token = std::move(token), &ran] { ++ran; })) {
          ++taken;
        } else {
          ++refused;
        }
      }
    });
    for (std::uint64_t turns = random.below(20); turns > 0; --turns) executor->run_one();
    executor.reset();
    other.join();
    // The executor's end drops those that it has not run.
    if (ran > taken || destroyed != taken + refused) ++wrong;
  }
  CHECK(wrong == 0);
}

// glommio #261: the loop checked its queue, then went to sleep; a post in between was not noticed.
// Most of a post's time goes into falling asleep and waking, so several pairs of threads do it side by side.
TEST_CASE("Post: none at any moment around the loop's falling asleep is overlooked [threads]", "[threads]") {
  constexpr int pairs = 4;
  constexpr int posts_of_pair = test::sanitized ? 10'000 : 250'000;
  const auto play = [](std::uint64_t seed, std::atomic<int>& seen) {
    Gate gate;
    Executor executor({.deadlock_after = 60s});
    executor.submit(passes(gate));
    std::thread other([seed, &seen, &gate, poster = executor.poster()] {
      test::Random random(seed);
      for (int number = 1; number <= posts_of_pair; ++number) {
        for (std::uint64_t spin = random.below(2'000); spin > 0; --spin) seen.load(std::memory_order_relaxed);
        poster.post([&seen] { seen.fetch_add(1); });
        while (seen.load() < number) std::this_thread::yield();  // a lost wake-up would hang here
      }
      poster.post([&gate] { gate.open(); });
    });
    executor.run();
    other.join();
  };
  std::vector<std::atomic<int>> seen(pairs);
  std::vector<std::thread> executors;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    executors.emplace_back([&play, &seen, pair] { play(5 + pair, seen[pair]); });
  }
  for (std::thread& thread : executors) thread.join();
  CHECK(std::accumulate(seen.begin(), seen.end(), 0) == pairs * posts_of_pair);
}

class CountingClock final : public Clock {
 public:
  Instant now() override {
    ++count;
    return RealClock().now();
  }
  int count = 0;
};

// libcoro #82, #410: the wake-up was never drained, and the loop spun after the first post.
TEST_CASE("Post: after one the loop sleeps again [threads]", "[threads]") {
  Gate gate;
  CountingClock clock;
  Executor executor({.clock = &clock, .deadlock_after = 20ms});
  executor.submit(passes(gate));
  std::thread other([poster = executor.poster()] { poster.post([] {}); });
  CHECK_THROWS_AS(executor.run(), Deadlock);
  other.join();
  CHECK(clock.count < 50);
}

TEST_CASE("Post: in virtual time an executor without threads does not wait for a Poster [threads]",
          "[threads]") {
  Executor executor(virtual_time);
  const Poster poster = executor.poster();
  CHECK(executor.run().resumes == 0);
}

TEST_CASE("Post: executors on two OS threads feed each other [threads]", "[threads]") {
  constexpr int rounds = 2'000;
  int hits = 0;
  Gate here_done;
  Gate there_done;
  Executor here;
  Executor there;
  struct Ball {
    Poster to_here, to_there;
    int left;
    int* hits;
    Gate* here_done;
    Gate* there_done;
    void fly() const {
      to_there.post([ball = *this] {
        ball.to_here.post([ball] {
          ++*ball.hits;
          if (ball.left > 1) {
            Ball next = ball;
            --next.left;
            next.fly();
          } else {
            ball.here_done->open();
            ball.to_there.post([gate = ball.there_done] { gate->open(); });
          }
        });
      });
    }
  };
  here.submit(passes(here_done));
  there.submit(passes(there_done));
  Ball{here.poster(), there.poster(), rounds, &hits, &here_done, &there_done}.fly();
  std::thread other([&there] { there.run(); });
  here.run();
  other.join();
  CHECK(hits == rounds);
}

}  // namespace
