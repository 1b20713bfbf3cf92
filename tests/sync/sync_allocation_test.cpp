// A program of its own: it counts what the global operator new hands out.

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/timeline.hpp>

namespace {

std::size_t allocation_count = 0;

}  // namespace

// Not inlined, or g++ warns of what malloc returned and operator delete takes.
[[gnu::noinline]] void* operator new(std::size_t size_bytes) {
  ++allocation_count;
  if (void* memory = std::malloc(size_bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size_bytes, const std::nothrow_t&) noexcept {
  ++allocation_count;
  return std::malloc(size_bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::virtual_time;

// With AddressSanitizer the frame pool keeps nothing, so that frames come from operator new on purpose.
bool pool_keeps_frames() {
  const std::size_t kept_before = frame_pool.kept_bytes();
  frame_pool.release(frame_pool.allocate(64), 64);
  return frame_pool.kept_bytes() >= kept_before && frame_pool.kept_bytes() > 0;
}

struct World {
  Mutex mutex;
  SharedMutex shared_mutex;
  ConditionVariable changed;
  Semaphore semaphore{1};
  RateLimiter limiter{1000, 1};
  Event event;
  Barrier barrier{2};
  Channel<int> channel{2};
  Channel<int> rendezvous{0};
  int turn = 0;
};

constexpr int rounds = 100;

// Two of these, of different classes: each wait is really waited for, and the owner inherits.
Task<> lives(World& world, int me) {
  for (int i = 0; i < rounds; ++i) {
    {
      Mutex::Guard guard = co_await world.mutex.lock();
      co_await Yield();
      if (me == 0) co_await world.changed.wait(guard, [&] { return world.turn > i; });
      if (me == 1) ++world.turn;
      world.changed.notify_all();
    }
    {
      const SharedMutex::Guard guard = co_await world.shared_mutex.lock_shared();
      co_await Yield();
    }
    {
      const SharedMutex::Guard guard = co_await world.shared_mutex.lock();
      co_await Yield();
    }
    co_await world.semaphore.acquire();
    co_await Yield();
    world.semaphore.release();
    co_await world.limiter.acquire();
    co_await world.barrier.arrive_and_wait();
    if (me == 0) {
      co_await world.channel.send(i);
      static_cast<void>(co_await select(sending(world.rendezvous, i), Sleep(1h)));
      world.event.set();
    } else {
      static_cast<void>(co_await world.channel.receive());
      static_cast<void>(co_await select(receiving(world.channel), receiving(world.rendezvous), Sleep(1h)));
      co_await world.event.wait();
      world.event.reset();
    }
    co_await world.barrier.arrive_and_wait();
  }
}

std::size_t allocations_of_a_run(Executor& executor) {
  World world;
  executor.submit(lives(world, 0), {.priority = Priority::low});
  executor.submit(lives(world, 1), {.priority = Priority::high});
  const std::size_t before = allocation_count;
  executor.run();
  return allocation_count - before;
}

}  // namespace

TEST_CASE("Sync: lock, wait, acquire, send, receive and select allocate nothing after warm-up") {
  if (!pool_keeps_frames()) return;
  Executor executor(virtual_time);
  for (int warm_up = 0; warm_up < 3; ++warm_up) allocations_of_a_run(executor);
  CHECK(allocations_of_a_run(executor) == 0);
}
