#include <catch2/catch.hpp>

#include <optional>
#include <utility>

#include <bide/executor/executor.hpp>

#include "death.hpp"
#include "timeline.hpp"

// Handles that go, or are used, when they must not be.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::virtual_time;

Task<int> value_after(Duration duration, int value) {
  co_await Sleep(duration);
  co_return value;
}
Task<> awaits(Handle<int>& handle) { co_await handle; }

TEST_CASE("Handle: what no program should do with it ends the process with a message") {
  const test::Death two = test::death_of([] {
    Executor executor(virtual_time);
    Handle<int> handle = executor.submit(value_after(5ms, 1));
    executor.submit(awaits(handle));
    executor.submit(awaits(handle));
    executor.run();
  });
  CHECK(two.aborted);
  CHECK_THAT(two.said, Catch::Contains("two threads wait for one Handle"));
  const test::Death early = test::death_of([] {
    Executor executor(virtual_time);
    executor.submit(value_after(5ms, 1)).take();
  });
  CHECK(early.aborted);
  CHECK_THAT(early.said, Catch::Contains("taken before the task ended"));
  const test::Death twice = test::death_of([] {
    Executor executor(virtual_time);
    Handle<int> handle = executor.submit(value_after(5ms, 1));
    executor.run();
    handle.take();
    handle.take();
  });
  CHECK(twice.aborted);
  CHECK_THAT(twice.said, Catch::Contains("taken twice"));
  const test::Death empty = test::death_of([] {
    Executor executor(virtual_time);
    Handle<int> handle = executor.submit(value_after(5ms, 1));
    const Handle<int> moved = std::move(handle);
    executor.submit(awaits(handle));
    executor.run();
  });
  CHECK(empty.aborted);
  CHECK_THAT(empty.said, Catch::Contains("moved away"));
}

// The joiner is woken before this runs, and has a lower class.
Task<> drops_at(std::optional<Handle<int>>& handle, Duration instant) {
  co_await Sleep(instant);
  handle.reset();
}
Task<> moves_at(std::optional<Handle<int>>& handle, Duration instant) {
  co_await Sleep(instant);
  const Handle<int> moved = std::move(*handle);
}
test::Death death_between_end_and_join(Task<> (*deed)(std::optional<Handle<int>>&, Duration)) {
  return test::death_of([deed] {
    Executor executor(virtual_time);
    std::optional<Handle<int>> handle(executor.submit(value_after(5ms, 1)));
    executor.submit(awaits(*handle), {.priority = Priority::low});
    executor.submit(deed(handle, 5ms));
    executor.run();
  });
}

TEST_CASE("Handle: one that goes after its thread's end, before the joiner runs, ends the process too") {
  const test::Death dropped = death_between_end_and_join(drops_at);
  CHECK(dropped.aborted);
  CHECK_THAT(dropped.said, Catch::Contains("is dropped while a thread is about to have its result"));
  const test::Death moved = death_between_end_and_join(moves_at);
  CHECK(moved.aborted);
  CHECK_THAT(moved.said, Catch::Contains("is moved while a thread waits for it"));
}

TEST_CASE("Handle: it outlives an executor that goes between the end of its thread and the join") {
  for (const bool handle_first : {false, true}) {
    std::optional<Executor> executor(virtual_time);
    std::optional<Handle<int>> handle(executor->submit(value_after(5ms, 1)));
    executor->submit(awaits(*handle), {.priority = Priority::low});
    while (!handle->done()) executor->run_one();
    if (handle_first) handle.reset();
    executor.reset();
    if (handle) CHECK(handle->take() == 1);
  }
}

}  // namespace
