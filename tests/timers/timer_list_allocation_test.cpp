// A program of its own: it counts what the global operator new hands out.

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <bide/tests/random.hpp>
#include <bide/timers/timer_list.hpp>

namespace {

std::size_t allocation_count = 0;

}  // namespace

void* operator new(std::size_t size_bytes, const std::nothrow_t&) noexcept {
  ++allocation_count;
  return std::malloc(size_bytes);
}
void* operator new(std::size_t size_bytes) {
  if (void* memory = operator new(size_bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using bide::Duration;
using bide::Instant;
using bide::Timer;
using bide::TimerList;

Instant random_instant(bide::test::Random& random) {
  return Instant(Duration(static_cast<std::int64_t>(random.below(1'000))));
}

/// Arms all, cancels a third, and fires the rest, each of which sleeps once more.
void live_once(TimerList& timers, std::vector<Timer>& all, bide::test::Random& random) {
  for (Timer& timer : all) timers.arm(timer, random_instant(random));
  for (Timer& timer : all) {
    if (random.below(3) == 0) timers.cancel(timer);
  }
  while (const auto due = timers.next_due()) {
    timers.release(*due, [&](Timer& timer) noexcept {
      if (*due < Instant(Duration(1'000))) timers.arm(timer, *due + Duration(1'000));
    });
  }
}

}  // namespace

TEST_CASE("TimerList: allocates nothing once its array has grown") {
  bide::test::Random random(5);
  std::vector<Timer> all(5'000);
  TimerList timers;
  live_once(timers, all, random);
  const std::size_t before = allocation_count;
  for (int round = 0; round != 20; ++round) live_once(timers, all, random);
  const std::size_t counted = allocation_count - before;
  CHECK(before > 0);
  CHECK(counted == 0);
}

TEST_CASE("TimerList: allocates nothing while it holds no more than was reserved") {
  bide::test::Random random(6);
  std::vector<Timer> all(5'000);
  TimerList timers;
  timers.reserve(all.size());
  const std::size_t before = allocation_count;
  live_once(timers, all, random);
  const std::size_t counted = allocation_count - before;
  CHECK(counted == 0);
}
