#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/timeline.hpp>

// The bus story: a low thread holds the bus, a high one waits for it, and a medium one that needs no bus
// would keep the low one from letting go. Waits are counted in resumes.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Timeline;
using bide::test::virtual_time;

constexpr SubmitOptions low{.name = "low", .priority = Priority::low};
constexpr SubmitOptions medium{.name = "medium", .priority = Priority::normal};
constexpr SubmitOptions high{.name = "high", .priority = Priority::high};

constexpr int turns_with_bus = 10;
constexpr int turns_of_medium = 1000;

Task<> works(int turns) {
  for (; turns > 0; --turns) co_await Yield();
}

std::uint64_t resumes_so_far() { return Executor::current().report().resumes; }

Task<> holds(Mutex& bus) {
  const Mutex::Guard guard = co_await bus.lock();
  co_await works(turns_with_bus);
}

struct Story {
  Executor executor{virtual_time};
  std::uint64_t waited_resumes = 0;

  // Begins when whatever is low has what high wants; the medium thread is ready before high is.
  template <class Want>
  void high_wants(Want want) {
    executor.submit(medium, works, turns_of_medium);
    executor.submit(high, [this, want]() -> Task<> {
      const std::uint64_t before = resumes_so_far();
      co_await want();
      waited_resumes = resumes_so_far() - before;
    });
    executor.run();
  }
};

}  // namespace

TEST_CASE(
    "Inheritance: the high thread waits as long as the low one needs the bus, however busy the medium one "
    "is") {
  Story story;
  Mutex bus("bus");
  story.executor.submit(low, [&] { return holds(bus); });
  story.executor.run_one();
  story.high_wants([&]() -> Task<> { const Mutex::Guard guard = co_await bus.lock(); });
  CHECK(story.waited_resumes <= turns_with_bus + 1);
  CHECK(story.waited_resumes > 0);
}

TEST_CASE("Inheritance: without it, as with an event in the place of a mutex, high waits for all of medium") {
  Story story;
  Event bus_is_free;
  story.executor.submit(low, [&]() -> Task<> {
    co_await works(turns_with_bus);
    bus_is_free.set();
  });
  story.executor.run_one();
  story.high_wants([&]() -> Task<> { co_await bus_is_free.wait(); });
  CHECK(story.waited_resumes > turns_of_medium);
}

TEST_CASE("Inheritance: passes through a chain of three mutexes") {
  Story story;
  Mutex first;
  Mutex second;
  Mutex third;
  const auto holds_and_wants = [](Mutex& held, Mutex& wanted) -> Task<> {
    const Mutex::Guard one = co_await held.lock();
    co_await Yield();
    const Mutex::Guard two = co_await wanted.lock();
    co_await works(turns_with_bus);
  };
  story.executor.submit(low, [&] { return holds(first); });
  story.executor.submit(low, [&] { return holds_and_wants(second, first); });
  story.executor.submit(low, [&] { return holds_and_wants(third, second); });
  while (first.waiters() + second.waiters() < 2) story.executor.run_one();
  story.high_wants([&]() -> Task<> { const Mutex::Guard guard = co_await third.lock(); });
  CHECK(story.waited_resumes <= 3 * (turns_with_bus + 2));
}

TEST_CASE(
    "Inheritance: a thread that is joined runs at the class of who joins it, and what it waits for does "
    "too") {
  Story story;
  Mutex bus;
  story.executor.submit(low, [&] { return holds(bus); });
  Handle<> wants = story.executor.submit(low, [&] { return holds(bus); });
  while (bus.waiters() == 0) story.executor.run_one();
  SECTION("through a Handle") {
    story.high_wants([&]() -> Task<> { co_await wants; });
  }
  SECTION("through a select") {
    story.high_wants([&]() -> Task<> { static_cast<void>(co_await select(Sleep(1h), joining(wants))); });
  }
  CHECK(story.waited_resumes <= 2 * (turns_with_bus + 2));
  CHECK(story.waited_resumes >= turns_with_bus);
}

TEST_CASE("Inheritance: a writer of a SharedMutex runs at the class of the reader that waits") {
  Story story;
  SharedMutex bus;
  story.executor.submit(low, [&]() -> Task<> {
    const SharedMutex::Guard guard = co_await bus.lock();
    co_await works(turns_with_bus);
  });
  story.executor.run_one();
  story.high_wants([&]() -> Task<> { const SharedMutex::Guard guard = co_await bus.lock_shared(); });
  CHECK(story.waited_resumes <= turns_with_bus + 1);
}

TEST_CASE("Inheritance: ends with the unlock, and with the waiter's cancel") {
  Executor executor(virtual_time);
  Mutex bus;
  Timeline timeline;
  std::optional<Handle<>> waiter;
  const bool unlocks = GENERATE(true, false);
  executor.submit(low, [&]() -> Task<> {
    Mutex::Guard guard = co_await bus.lock();
    co_await Yield();
    timeline.push_back("low runs before medium");
    if (unlocks) {
      guard.unlock();
    } else {
      waiter->cancel();
    }
    co_await Yield();
    timeline.push_back("low runs after medium");
  });
  executor.run_one();
  waiter.emplace(executor.submit(high, [&]() -> Task<> { const Mutex::Guard guard = co_await bus.lock(); }));
  executor.submit(medium, [&]() -> Task<> {
    timeline.push_back("medium");
    co_return;
  });
  executor.run();
  CHECK(timeline == Timeline{"low runs before medium", "medium", "low runs after medium"});
}

TEST_CASE("Inheritance: a waiter that inherits while it waits moves to its place in the queue") {
  Executor executor(virtual_time);
  Mutex bus;
  Mutex other;
  Timeline timeline;
  const auto waits = [&](const char* name) -> Task<> {
    const Mutex::Guard guard = co_await bus.lock();
    timeline.push_back(name);
  };
  executor.submit(medium, [&]() -> Task<> {
    const Mutex::Guard guard = co_await bus.lock();
    co_await Sleep(10ms);
  });
  executor.submit(medium, [&] { return waits("came first"); });
  executor.submit(low, [&]() -> Task<> {
    const Mutex::Guard guard = co_await other.lock();
    co_await waits("holds what high wants");
  });
  executor.submit(high, [&]() -> Task<> {
    co_await Sleep(5ms);
    const Mutex::Guard guard = co_await other.lock();
  });
  executor.run();
  CHECK(timeline == Timeline{"holds what high wants", "came first"});
}

TEST_CASE("Inheritance: in its new class a waiter goes by the time at which it came") {
  Executor executor(virtual_time);
  Mutex bus;
  Mutex other;
  Timeline timeline;
  const auto waits = [&](const char* name) -> Task<> {
    const Mutex::Guard guard = co_await bus.lock();
    timeline.push_back(name);
  };
  executor.submit(medium, [&]() -> Task<> {
    const Mutex::Guard guard = co_await bus.lock();
    co_await Sleep(10ms);
  });
  executor.submit(low, [&]() -> Task<> {
    const Mutex::Guard guard = co_await other.lock();
    co_await waits("low, came second");
  });
  executor.run_for(1ms);
  executor.submit(medium, [&] { return waits("came third"); });
  executor.run_for(1ms);
  executor.submit(medium, [&]() -> Task<> { const Mutex::Guard guard = co_await other.lock(); });
  executor.run();
  CHECK(timeline == Timeline{"low, came second", "came third"});
}
