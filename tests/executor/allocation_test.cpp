#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <bide/executor/executor.hpp>

// A program of its own: it replaces the global operator new with one that counts.

namespace {
std::uint64_t allocation_count = 0;
}

void* operator new(std::size_t bytes) {
  ++allocation_count;
  if (void* const memory = std::malloc(bytes); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocation_count;
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace bide;
using namespace std::chrono_literals;

// What is measured twice: the first time warms up, the second must not allocate.
class Measured {
 public:
  void begin() { start_ = allocation_count; }
  void end() { counts.push_back(allocation_count - start_); }
  std::uint64_t after_warm_up() const { return counts.at(1); }
  std::vector<std::uint64_t> counts{};

 private:
  std::uint64_t start_ = 0;
};

constexpr int repeats = 1000;

// Runs `act`, a function of a turn number that returns a task, `repeats` times, twice.
template <class Act>
Task<> measures(Measured& measured, Act act) {
  for (int round = 0; round < 2; ++round) {
    measured.begin();
    for (int turn = 0; turn < repeats; ++turn) co_await act(turn);
    measured.end();
  }
}

template <class Act>
std::uint64_t allocations_of(Act act, ExecutorOptions options = {.time = TimeMode::virtual_time}) {
  Measured measured;
  measured.counts.reserve(2);
  frame_pool.limit_kept_bytes(std::size_t{64} << 20U);  // with AddressSanitizer it is zero
  Executor executor(options);
  executor.submit({}, [&measured, act] { return measures(measured, act); });
  executor.run();
  return measured.after_warm_up();
}

Task<int> answer(int value) { co_return value; }
Task<> sleeper(Duration duration) { co_await Sleep(duration); }

Task<> yields(int) { co_await Yield(); }
Task<> sleeps(int turn) { co_await Sleep(Duration(1 + turn % 7)); }
Task<> awaits_child(int turn) { co_await answer(turn); }
Task<> submits_and_joins(int turn) { co_await submit(answer(turn)); }
Task<> submits_detached(int) {
  submit(sleeper(1ns));
  co_await Sleep(2ns);
}
Task<> submits_with_deadline(int turn) { co_await submit(answer(turn), {.deadline_in = 5s}); }
Task<> cancels(int) {
  Handle<> handle = submit(sleeper(1h));
  co_await Yield();
  handle.cancel();
  co_await Yield();
}
Task<> posts(int) {
  Executor::current().post([] {});
  co_await Yield();
}
Task<> many_sleepers(int turn) {
  if (turn % 100 != 0) co_return;
  for (int i = 0; i < 1000; ++i) submit(sleeper(Duration(i % 13)));
  co_await Sleep(20ns);
}

TEST_CASE("Allocation: none after warm-up for yield, sleep, wake and await of a child") {
  CHECK(allocations_of(yields) == 0);
  CHECK(allocations_of(sleeps) == 0);
  CHECK(allocations_of(awaits_child) == 0);
}

TEST_CASE(
    "Allocation: none after warm-up for the submit of a small task, its end, and the wake of who joins its "
    "Handle") {
  CHECK(allocations_of(submits_and_joins) == 0);
  CHECK(allocations_of(submits_detached) == 0);
  CHECK(allocations_of(submits_with_deadline) == 0);
  CHECK(allocations_of(many_sleepers) == 0);
}

TEST_CASE("Allocation: none after warm-up with promotion, in real time, and for a post from the loop") {
  CHECK(allocations_of(submits_and_joins, {.time = TimeMode::virtual_time, .promote_every = 3}) == 0);
  CHECK(allocations_of(sleeps, {}) == 0);
  CHECK(allocations_of(posts) == 0);
}

TEST_CASE("Allocation: a cancel allocates no more than the exception that it throws") {
  // __cxa_allocate_exception does not use operator new, so nothing is left to count.
  CHECK(allocations_of(cancels) == 0);
}

}  // namespace
