#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>

#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::virtual_time;
using Lines = std::vector<std::string>;

// A thread's line without what tells lines and times: what it is, what it waits for, and what nobody does.
std::string in_short(const std::string& line) {
  const std::size_t file = line.find("pp:");
  if (file == std::string::npos) return line;
  const std::size_t where = std::min(line.find(" (locked at "), line.rfind(" at ", file));
  const std::size_t nobody = line.find("; nobody");
  return line.substr(0, where) + (nobody == std::string::npos ? "" : line.substr(nobody));
}

// The lines of the Deadlock behind the first.
Lines deadlock_of(Executor& executor) {
  std::string text = "no deadlock";
  try {
    executor.run();
  } catch (const Deadlock& deadlock) {
    text = deadlock.what();
  }
  Lines lines;
  for (std::size_t begin = text.find('\n'); begin != std::string::npos;) {
    const std::size_t end = text.find('\n', ++begin);
    lines.push_back(in_short(text.substr(begin, end == std::string::npos ? end : end - begin)));
    begin = end;
  }
  return lines;
}

Task<> locks_both(Mutex& first, Mutex& second) {
  Mutex::Guard one = co_await first.lock();
  co_await Sleep(1ms);
  Mutex::Guard two = co_await second.lock();
}
Task<> locks(Mutex& mutex) { Mutex::Guard guard = co_await mutex.lock(); }
Task<> joins(Handle<>& handle) { co_await handle; }
Task<> joins_optional(std::optional<Handle<>>& handle) { co_await *handle; }
Task<> waits(Event& event) { co_await event.wait(); }
Task<> receives(Channel<int>& channel) { co_await channel.receive(); }

TEST_CASE("Deadlock: two mutexes in opposite order are a cycle, with its owners") {
  Executor executor(virtual_time);
  Mutex a("a"), b("b");
  executor.submit(locks_both(a, b), {.name = "one"});
  executor.submit(locks_both(b, a), {.name = "two"});
  CHECK(deadlock_of(executor) == Lines{
                                     "  in a cycle: 1 -> 2 -> 1",
                                     "    thread 1 \"one\" (normal) waits for mutex \"b\" held by thread 2",
                                     "    thread 2 \"two\" (normal) waits for mutex \"a\" held by thread 1",
                                 });
}

TEST_CASE("Deadlock: a thread that locks a mutex twice is a cycle of one") {
  Executor executor(virtual_time);
  Mutex mutex("own");
  executor.submit(locks_both(mutex, mutex));
  CHECK(deadlock_of(executor) == Lines{
                                     "  in a cycle: 1 -> 1",
                                     "    thread 1 (normal) waits for mutex \"own\" held by thread 1",
                                 });
}

TEST_CASE(
    "Deadlock: all disjoint cycles come first, then who waits for them, then lost wake-ups and their "
    "waiters") {
  Executor executor(virtual_time);
  Event event("start");
  Mutex a("a"), b("b"), c("c"), d("d");
  Handle<> lost = executor.submit(waits(event));  // 1
  executor.submit(joins(lost));                   // 2
  executor.submit(locks_both(a, b));              // 3
  executor.submit(locks_both(c, d));              // 4
  executor.submit(locks_both(b, a));              // 5
  executor.submit(locks_both(d, c));              // 6
  Handle<> behind = executor.submit(locks(a));    // 7
  executor.submit(joins(behind));                 // 8
  CHECK(deadlock_of(executor) ==
        Lines{
            "  in a cycle: 3 -> 5 -> 3",
            "    thread 3 (normal) waits for mutex \"b\" held by thread 5",
            "    thread 5 (normal) waits for mutex \"a\" held by thread 3",
            "  in a cycle: 4 -> 6 -> 4",
            "    thread 4 (normal) waits for mutex \"d\" held by thread 6",
            "    thread 6 (normal) waits for mutex \"c\" held by thread 4",
            "  behind a cycle:",
            "    thread 7 (normal) waits for mutex \"a\" held by thread 3",
            "    thread 8 (normal) waits for thread 7 to end",
            "  by a lost wake-up, or behind a cycle:",
            "    thread 1 (normal) waits for event \"start\"; nobody is left who could set it",
            "  behind a lost wake-up:",
            "    thread 2 (normal) waits for thread 1 to end",
        });
}

Task<> notices(Mutex& mutex, ConditionVariable& variable) {
  Mutex::Guard guard = co_await mutex.lock();
  co_await variable.wait(guard);
}
Task<> sends(Channel<int>& channel) { co_await channel.send(1); }
Task<> acquires(Semaphore& semaphore, std::size_t permits) { co_await semaphore.acquire(permits); }
Task<> arrives(Barrier& barrier) { co_await barrier.arrive_and_wait(); }
Task<> waits_for_latch(Latch& latch) { co_await latch.wait(); }
Task<> selects(Channel<int>& channel, Event& event) {
  const auto selected = co_await select(receiving(channel), waiting(event));
  static_cast<void>(selected);
}

TEST_CASE("Deadlock: a lost wake-up says what nobody is left to do") {
  Executor executor(virtual_time);
  Channel<int> items(1, "items"), meeting(0, "meeting");
  Mutex mutex;
  ConditionVariable variable("changed");
  Semaphore semaphore(0, "slots");
  Event event("start");
  Latch latch(3, "done");
  Barrier barrier(2, "round");
  executor.submit(receives(items));
  executor.submit(sends(meeting));
  executor.submit(waits(event));
  executor.submit(acquires(semaphore, 1));
  executor.submit(acquires(semaphore, 2));
  executor.submit(notices(mutex, variable));
  executor.submit(waits_for_latch(latch));
  executor.submit(arrives(barrier));
  executor.submit(selects(items, event));
  CHECK(
      deadlock_of(executor) ==
      Lines{
          "  by a lost wake-up:",
          "    thread 1 (normal) waits for an item on channel \"items\"; nobody is left who could send on it",
          "    thread 2 (normal) waits for a receiver on channel \"meeting\"; nobody is left who could "
          "receive from it",
          "    thread 3 (normal) waits for event \"start\"; nobody is left who could set it",
          "    thread 4 (normal) waits for 1 permit of semaphore \"slots\", which has 0; nobody is left who "
          "could release a permit",
          "    thread 5 (normal) waits for 2 permits of semaphore \"slots\", which has 0; nobody is left who "
          "could release permits",
          "    thread 6 (normal) waits for condition variable \"changed\"; nobody is left who could notify "
          "it",
          "    thread 7 (normal) waits for latch \"done\" with 3 to go; nobody is left who could count it "
          "down",
          "    thread 8 (normal) waits for 1 thread to arrive at barrier \"round\"; nobody is left who could "
          "arrive",
          "    thread 9 (normal) waits for the first of: an item on channel \"items\", event \"start\"; "
          "nobody is left who could end any of these waits",
      });
}

Task<> group_of_two(TaskGroup& group, Event& event, Mutex& mutex) {
  group.submit(waits(event));
  group.submit(locks(mutex));
  co_return;
}
Task<> owns_group(Event& event, Mutex& mutex) {
  Mutex::Guard guard = co_await mutex.lock();
  co_await with_task_group(group_of_two, std::ref(event), std::ref(mutex));
}

TEST_CASE("Deadlock: a cycle through a group's second member is found") {
  Executor executor(virtual_time);
  Event event;
  Mutex mutex("m");
  executor.submit(owns_group(event, mutex));
  CHECK(deadlock_of(executor) == Lines{
                                     "  in a cycle: 1 -> 3 -> 1",
                                     "    thread 1 (normal) waits for 2 threads of a group to end",
                                     "    thread 3 (normal) waits for mutex \"m\" held by thread 1",
                                     "  by a lost wake-up, or behind a cycle:",
                                     "    thread 2 (normal) waits for event; nobody is left who could set it",
                                 });
}

Task<> reads(SharedMutex& shared, Event& event) {
  SharedMutex::Guard guard = co_await shared.lock_shared();
  co_await event.wait();
}
Task<> reads_then_joins(SharedMutex& shared, std::optional<Handle<>>& other) {
  SharedMutex::Guard guard = co_await shared.lock_shared();
  co_await Sleep(1ms);
  co_await *other;
}
Task<> writes(SharedMutex& shared) { SharedMutex::Guard guard = co_await shared.lock(); }

TEST_CASE("Deadlock: a cycle through any of a shared mutex's readers is found") {
  const bool first = GENERATE(true, false);
  Executor executor(virtual_time);
  Event event;
  SharedMutex shared("table");
  std::optional<Handle<>> writer;
  if (first) executor.submit(reads_then_joins(shared, writer), {.name = "joins"});
  executor.submit(reads(shared, event), {.name = "reads"});
  if (!first) executor.submit(reads_then_joins(shared, writer), {.name = "joins"});
  writer = executor.submit(writes(shared));
  const Lines lines = deadlock_of(executor);
  REQUIRE_FALSE(lines.empty());
  CHECK(lines[0] == (first ? "  in a cycle: 1 -> 3 -> 1" : "  in a cycle: 2 -> 3 -> 2"));
}

Task<> reads_twice(SharedMutex& shared) {
  SharedMutex::Guard one = co_await shared.lock_shared();
  co_await Sleep(1ms);
  SharedMutex::Guard two = co_await shared.lock_shared();
}

TEST_CASE("Deadlock: reading twice with a writer in between is a cycle") {
  Executor executor(virtual_time);
  SharedMutex shared("table");
  executor.submit(reads_twice(shared));
  executor.submit(writes(shared));
  CHECK(deadlock_of(executor) ==
        Lines{
            "  in a cycle: 1 -> 2 -> 1",
            "    thread 1 (normal) waits for shared mutex \"table\" behind thread 2",
            "    thread 2 (normal) waits for shared mutex \"table\" read by thread 1",
        });
}

Task<> selects_join(std::optional<Handle<>>& handle, Event& event) {
  const auto selected = co_await select(waiting(event), joining(*handle));
  static_cast<void>(selected);
}

TEST_CASE("Deadlock: a cycle through an arm of a select is found") {
  Executor executor(virtual_time);
  Event event("stop");
  std::optional<Handle<>> first, second;
  first = executor.submit(selects_join(second, event));
  second = executor.submit(joins_optional(first));
  CHECK(deadlock_of(executor) ==
        Lines{
            "  in a cycle: 1 -> 2 -> 1",
            "    thread 1 (normal) waits for the first of: event \"stop\", thread 2 to end",
            "    thread 2 (normal) waits for thread 1 to end",
        });
}

TEST_CASE("Deadlock: a long chain of joins behind a cycle takes no stack") {
  constexpr std::size_t count = 50'000;
  Executor executor(virtual_time);
  Mutex own;
  std::vector<std::optional<Handle<>>> handles(count);
  for (std::size_t thread = 0; thread < count; ++thread) {
    handles[thread] =
        executor.submit(thread == 0 ? locks_both(own, own) : joins_optional(handles[thread - 1]));
  }
  try {
    executor.run();
    CHECK(false);
  } catch (const Deadlock& deadlock) {
    const std::string text = deadlock.what();
    CHECK_THAT(text, Catch::Contains("\n  in a cycle: 1 -> 1\n    thread 1 "));
    CHECK_THAT(text, Catch::Contains("\n  behind a cycle:\n    thread 2 "));
    CHECK(std::count(text.begin(), text.end(), '\n') == static_cast<std::ptrdiff_t>(count) + 2);
  }
}

}  // namespace
