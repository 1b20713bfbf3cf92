#include <catch2/catch.hpp>

#include <pthread.h>
#include <cstddef>
#include <cstdint>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/tests/executor/timeline.hpp>
#include <bide/tests/sanitizer.hpp>

// A million waiters for one thing, on an OS thread whose stack is far too small for a call a waiter.

namespace {

using namespace bide;
using bide::test::virtual_time;

constexpr std::size_t small_stack_bytes = std::size_t{256} << 10U;
constexpr std::uint64_t crowd = test::sanitized ? 100'000 : 1'000'000;

template <class F>
void on_small_stack(F function) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, small_stack_bytes) == 0);
  pthread_t thread{};
  const auto body = [](void* f) -> void* {
    (*static_cast<F*>(f))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, body, &function) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// Whether the waiters came through in the order 0, 1, 2, ...
struct Order {
  std::uint64_t next = 0;
  bool in_order = true;

  void passed(std::uint64_t number) { in_order = in_order && number == next++; }
  bool all() const { return in_order && next == crowd; }
};

template <class Object, class Pass, class Open>
bool all_pass_in_order(Object& object, Pass pass, Open open) {
  Order order;
  on_small_stack([&] {
    Executor executor(virtual_time);
    for (std::uint64_t i = 0; i < crowd; ++i) executor.submit(pass(object, order, i));
    executor.run_until(Instant());
    open(object);
    executor.run();
  });
  return order.all();
}

Task<> waits(Event& event, Order& order, std::uint64_t number) {
  co_await event.wait();
  order.passed(number);
}
Task<> waits_for_latch(Latch& latch, Order& order, std::uint64_t number) {
  co_await latch.wait();
  order.passed(number);
}
Task<> acquires(Semaphore& semaphore, Order& order, std::uint64_t number) {
  co_await semaphore.acquire();
  order.passed(number);
}
Task<> passes_on(Semaphore& semaphore, Order& order, std::uint64_t number) {
  co_await semaphore.acquire();
  order.passed(number);
  semaphore.release();
}
Task<> receives(Channel<int>& channel, Order& order, std::uint64_t number) {
  static_cast<void>(co_await channel.receive());
  order.passed(number);
}
Task<> selects_permits(Semaphore& semaphore, Order& order, std::uint64_t number) {
  static_cast<void>(
      co_await select([&] { return semaphore.acquire(1); }, [&] { return semaphore.acquire(2); }));
  order.passed(number);
}

}  // namespace

// S5
TEST_CASE("Sync: a crowd of waiters comes through in order and on a small stack") {
  SECTION("Event") {
    Event event;
    CHECK(all_pass_in_order(event, waits, [](Event& e) { e.set(); }));
  }
  SECTION("Latch") {
    Latch latch(1);
    CHECK(all_pass_in_order(latch, waits_for_latch, [](Latch& l) { l.count_down(); }));
  }
  SECTION("Semaphore, all at once") {
    Semaphore semaphore(0);
    CHECK(all_pass_in_order(semaphore, acquires, [](Semaphore& s) { s.release(crowd); }));
    CHECK(semaphore.value() == 0);
  }
  SECTION("Semaphore, one after the other") {
    Semaphore semaphore(0);
    CHECK(all_pass_in_order(semaphore, passes_on, [](Semaphore& s) { s.release(); }));
    CHECK(semaphore.value() == 1);
  }
  SECTION("Channel, closed") {
    Channel<int> channel(0);
    CHECK(all_pass_in_order(channel, receives, [](Channel<int>& c) { c.close(); }));
  }
  SECTION("select with two arms on one semaphore") {
    Semaphore semaphore(0);
    CHECK(all_pass_in_order(semaphore, selects_permits, [](Semaphore& s) { s.release(crowd); }));
    CHECK(semaphore.value() == 0);
    CHECK(semaphore.waiters() == 0);
  }
}

// S5
TEST_CASE("Mutex: a crowd of waiters owns it in order and on a small stack") {
  Order order;
  Mutex mutex;
  on_small_stack([&] {
    Executor executor(virtual_time);
    for (std::uint64_t i = 0; i < crowd; ++i) {
      executor.submit(
          {},
          [](Mutex& wanted, Order& passed, std::uint64_t number) -> Task<> {
            const Mutex::Guard guard = co_await wanted.lock();
            if (number == 0) co_await Yield();  // so that all others have to wait
            passed.passed(number);
          },
          std::ref(mutex), std::ref(order), i);
    }
    executor.run();
  });
  CHECK(order.all());
  CHECK(!mutex.locked());
}

TEST_CASE("Barrier: a group as large as a crowd") {
  std::uint64_t passed = 0;
  on_small_stack([&] {
    Executor executor(virtual_time);
    Barrier barrier(crowd);
    const auto arrives = [](Barrier& at, std::uint64_t& count) -> Task<> {
      co_await at.arrive_and_wait();
      ++count;
    };
    for (std::uint64_t i = 0; i < crowd; ++i) executor.submit(arrives(barrier, passed));
    executor.run();
  });
  CHECK(passed == crowd);
}

TEST_CASE("Sync: a crowd of waiters is cancelled one by one, from the last to the first") {
  on_small_stack([&] {
    Executor executor(virtual_time);
    Event event;
    Order order;
    std::vector<Handle<>> handles;
    handles.reserve(crowd);
    for (std::uint64_t i = 0; i < crowd; ++i) handles.push_back(executor.submit(waits(event, order, i)));
    executor.run_until(Instant());
    while (!handles.empty()) {
      handles.back().cancel();
      handles.pop_back();
    }
    executor.run();
  });
}
