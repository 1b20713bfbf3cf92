#include <catch2/catch.hpp>

#include <cstdlib>
#include <new>

#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_all.hpp>
#include <bide/executor/scope/when_any.hpp>
#include <bide/tests/sanitizer.hpp>

// A program of its own: it counts what operator new is asked for.

namespace {
std::size_t allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace bide;
using namespace std::chrono_literals;

Task<int> at_once() { co_return 1; }
Task<int> after_a_while() {
  co_await Sleep(1ms);
  co_return 1;
}
Task<> three_members(TaskGroup& group) {
  for (int i = 0; i < 3; ++i) group.submit(after_a_while());
  co_return;
}

// One each: the frame of one coroutine with all of them is more than a block of the frame pool holds.
Task<> with_timeout() { co_await timeout(1h, at_once()); }
Task<> with_try_timeout() { co_await try_timeout(1h, after_a_while()); }
Task<> with_deadline() { co_await deadline(now() + 1h, after_a_while()); }
Task<> with_shield() { co_await shielded(after_a_while()); }
Task<> with_group() { co_await with_task_group(three_members); }
Task<> with_when_all() { co_await when_all(at_once(), after_a_while()); }
Task<> with_when_any() { co_await when_any(at_once(), after_a_while()); }

Task<> repeats(Task<> (*what)(), int times, std::size_t& made) {
  for (int i = 0; i < times; ++i) {
    if (i == times / 2) made = allocations;
    co_await what();
  }
  made = allocations - made;
}

TEST_CASE("Scopes: after warm-up they allocate nothing") {
  if (bide::test::address_sanitizer) return;  // the frame pool keeps no memory then
  int number = 0;
  for (Task<> (*what)() : {with_timeout, with_try_timeout, with_deadline, with_shield, with_group,
                           with_when_all, with_when_any}) {
    CAPTURE(++number);
    std::size_t made = 1;
    Executor executor({.time = TimeMode::virtual_time});
    executor.submit(repeats(what, 200, made));
    executor.run();
    CHECK(made == 0);
  }
}

}  // namespace
