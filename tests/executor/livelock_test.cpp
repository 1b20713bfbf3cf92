#include <catch2/catch.hpp>

#include <string>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/channel.hpp>

#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;

constexpr ExecutorOptions watched{.time = TimeMode::virtual_time, .livelock_after = 1'000};

Task<> yields_for_ever() {
  for (;;) co_await Yield();
}
Task<> sleeps(Duration duration) { co_await Sleep(duration); }
Task<> returns() { co_return; }

TEST_CASE("Livelock: two threads that yield to each other are named, one that sleeps is not") {
  Executor executor(watched);
  executor.submit(yields_for_ever(), {.name = "ping"});
  executor.submit(sleeps(1s), {.name = "asleep"});
  executor.submit(yields_for_ever(), {.name = "pong"});
  std::string text;
  std::vector<ThreadReport> threads;
  try {
    executor.run();
  } catch (const Livelock& livelock) {
    text = livelock.what();
    threads = livelock.threads();
  }
  CHECK_THAT(text, Catch::StartsWith("livelock at 0 s: threads run, but time does not move and none ends\n"
                                     "  thread 1 \"ping\" (normal) is ready"));
  CHECK_THAT(text, Catch::Contains("\n  thread 3 \"pong\" (normal) is ready"));
  REQUIRE(threads.size() == 2);
  CHECK(threads[0].id == 1);
  CHECK(threads[1].id == 3);
  CHECK(executor.report().resumes > 1'000);
  CHECK(executor.report().resumes < 1'200);
}

TEST_CASE("Livelock: run_one and run_until find it too") {
  Executor by_one(watched);
  by_one.submit(yields_for_ever());
  const auto run_ones = [&] {
    for (int turn = 0; turn < 2'000; ++turn) by_one.run_one();
  };
  CHECK_THROWS_AS(run_ones(), Livelock);
  CHECK(by_one.report().resumes == 1'001);

  Executor by_time(watched);
  by_time.submit(yields_for_ever());
  CHECK_THROWS_AS(by_time.run_for(1s), Livelock);
}

Task<> ping_pong(Channel<int>& in, Channel<int>& out) {
  while (auto item = co_await in.receive()) co_await out.send(*item + 1);
}

TEST_CASE("Livelock: threads that wake each other for ever are one") {
  Executor executor(watched);
  Channel<int> there(1), back(1);
  executor.submit(ping_pong(there, back), {.name = "there"});
  executor.submit(ping_pong(back, there), {.name = "back"});
  CHECK(there.try_send(1));
  CHECK_THROWS_AS(executor.run(), Livelock);
  executor.stop();
  executor.run();
}

Task<> heartbeat(int beats) {
  for (int beat = 0; beat < beats; ++beat) {
    for (int turn = 0; turn < 500; ++turn) co_await Yield();
    co_await Sleep(1ms);
  }
}
Task<> submits(int count) {
  for (int thread = 0; thread < count; ++thread) co_await submit(returns());
}

TEST_CASE("Livelock: none while time moves, or threads end") {
  Executor beating(watched);
  beating.submit(heartbeat(20));
  CHECK(beating.run().resumes > 10'000);

  Executor submitting(watched);
  submitting.submit(submits(5'000));
  CHECK(submitting.run().unfinished.empty());
}

Task<> yields(int turns) {
  for (int turn = 0; turn < turns; ++turn) co_await Yield();
}

struct PostsItself {
  Executor& executor;
  int& left;
  void operator()() const {
    if (--left > 0) executor.post(*this);
  }
};

TEST_CASE("Livelock: posts that follow one another for ever are one, beside a thread that sleeps") {
  Executor executor(watched);
  executor.submit(sleeps(1s));
  int left = 10'000;
  executor.post(PostsItself{executor, left});
  CHECK_THROWS_WITH(executor.run(), "livelock at 0 s: posts follow one another, and time does not move");
  CHECK(left > 8'000);
  left = 500;
  CHECK_THROWS_AS(executor.run(), Livelock);  // nothing has ended since
  left = 0;
  executor.stop();
  executor.run();
}

TEST_CASE("Livelock: off by default, and in real time") {
  Executor by_default(bide::test::virtual_time);
  by_default.submit(yields(100'000));
  CHECK(by_default.run().unfinished.empty());

  Executor real_time({.livelock_after = 1'000});
  real_time.submit(yields(100'000));
  CHECK(real_time.run().unfinished.empty());
}

TEST_CASE("Livelock: the threads stay as they are, and stop ends them") {
  Executor executor(watched);
  Handle<> handle = executor.submit(yields_for_ever());
  CHECK_THROWS_AS(executor.run(), Livelock);
  CHECK_THROWS_AS(executor.run(), Livelock);
  executor.stop();
  executor.run();
  CHECK_THROWS_AS(handle.take(), Cancelled);
}

}  // namespace
