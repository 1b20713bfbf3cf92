// Every kind of wait, until nothing can go on; then the process says how its threads stand, and aborts.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;

struct World {
  Mutex bus{"bus"}, cable{"cable"}, guarded;
  SharedMutex table{"table"};
  Event never{"never \"\x1b[2J\n"};
  Channel<int> items{1, "items"};
  Channel<std::string> meeting{0};
  Semaphore slots{1, "slots"};
  ConditionVariable changed{"changed"};
  Latch done{3, "done"};
  Barrier round{3, "round"};
};

Task<> locks_both(Mutex& first, Mutex& second) {
  Mutex::Guard one = co_await first.lock();
  co_await Sleep(1500us);
  Mutex::Guard two = co_await second.lock();
}
Task<> waits(Event& event) { co_await event.wait(); }
Task<> waits_deeply(int depth, Event& event) {
  if (depth > 0) {
    co_await waits_deeply(depth - 1, event);
  } else {
    co_await waits(event);
  }
}
Task<> waits_shielded(Event& event) { co_await shielded(event.wait()); }
Task<> receives(Channel<int>& channel) { co_await channel.receive(); }
Task<> sends(Channel<std::string>& channel) { co_await channel.send(std::string("hello")); }
Task<> acquires(Semaphore& semaphore) { co_await semaphore.acquire(2); }
Task<> notices(World& world) {
  Mutex::Guard guard = co_await world.guarded.lock();
  co_await world.changed.wait(guard);
}
Task<> waits_for_latch(Latch& latch) { co_await latch.wait(); }
Task<> arrives(Barrier& barrier) { co_await barrier.arrive_and_wait(); }
Task<> joins(Handle<>& handle) { co_await handle; }
Task<> reads_twice(SharedMutex& shared) {
  SharedMutex::Guard one = co_await shared.lock_shared();
  co_await Sleep(1ms);
  SharedMutex::Guard two = co_await shared.lock_shared();
}
Task<> reads(SharedMutex& shared, Event& event) {
  SharedMutex::Guard guard = co_await shared.lock_shared();
  co_await event.wait();
}
Task<> writes(SharedMutex& shared) { SharedMutex::Guard guard = co_await shared.lock(); }
Task<> selects(World& world) {
  const auto selected = co_await select(receiving(world.items), waiting(world.never));
  static_cast<void>(selected);
}
Task<> nested_members(TaskGroup& group, Event& event) {
  group.submit(waits(event), {.name = "inner"});
  co_return;
}
Task<> nested(Event& event) { co_await with_task_group(nested_members, std::ref(event)); }
Task<> members(TaskGroup& group, World& world) {
  group.submit(receives(world.items), {.name = "first member", .priority = Priority::low});
  group.submit(nested(world.never));
  group.submit(waits(world.never));
  co_return;
}
Task<> owns_group(World& world) { co_await with_task_group(members, std::ref(world)); }

}  // namespace

bide::Executor* executor_that_runs = nullptr;  // for the debugger

namespace {

// Of an exception that nobody catches: the run is still on the stack.
[[noreturn]] void say_and_abort() {
  std::fputs(executor_that_runs->dump().c_str(), stdout);
  std::fflush(stdout);
  std::abort();
}

}  // namespace

int main() {
  std::set_terminate(say_and_abort);
  World world;
  Executor executor({.time = TimeMode::virtual_time});
  executor_that_runs = &executor;
  executor.submit(locks_both(world.bus, world.cable), {.name = "one", .priority = Priority::low});
  executor.submit(locks_both(world.cable, world.bus), {.name = "two\t", .priority = Priority::critical});
  Handle<> lost = executor.submit(waits_deeply(2, world.never), {.priority = Priority::high});
  executor.submit(joins(lost), {.name = "joins"});
  executor.submit(owns_group(world), {.name = "owner"});
  executor.submit(sends(world.meeting));
  executor.submit(acquires(world.slots));
  executor.submit(notices(world));
  executor.submit(waits_for_latch(world.done));
  executor.submit(arrives(world.round));
  executor.submit(reads_twice(world.table));
  executor.submit(reads(world.table, world.never));
  executor.submit(writes(world.table));
  executor.submit(selects(world));
  executor.submit(waits_deeply(20, world.never), {.name = "deep"});
  Handle<> cancelled = executor.submit(waits_shielded(world.never));
  executor.run_for(1ms);
  cancelled.cancel();
  executor.run();
}
