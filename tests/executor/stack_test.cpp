#include <catch2/catch.hpp>

#include <pthread.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/tests/sanitizer.hpp>

#include "gate.hpp"
#include "timeline.hpp"

// No await, no end, no wake-up and no destruction may use stack in proportion to anything. All of it runs on
// an OS thread with a small stack, and the addresses that frames see are measured besides.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::virtual_time;

constexpr std::size_t small_stack_bytes = std::size_t{256} << 10U;
constexpr std::size_t allowed_bytes = 4096;
constexpr int deep = 100'000;

class StackGauge {
 public:
  [[gnu::noinline]] void read() {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    lowest_ = std::min(lowest_, here);
    highest_ = std::max(highest_, here);
    ++readings_;
  }
  std::uintptr_t used_bytes() const { return highest_ - lowest_; }
  int readings() const { return readings_; }
  void restart() { *this = StackGauge(); }

 private:
  std::uintptr_t lowest_ = UINTPTR_MAX;
  std::uintptr_t highest_ = 0;
  int readings_ = 0;
};

// The gauge, read again when a frame goes.
class ReadAtExit {
 public:
  explicit ReadAtExit(StackGauge& gauge) : gauge_(gauge) {}
  ReadAtExit(const ReadAtExit&) = delete;
  ReadAtExit& operator=(const ReadAtExit&) = delete;
  ~ReadAtExit() { gauge_.read(); }

 private:
  StackGauge& gauge_;
};

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

Task<int> trivial(StackGauge& gauge) {
  gauge.read();
  co_return 1;
}
Task<std::int64_t> awaits_in_a_loop(int count, StackGauge& gauge) {
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await trivial(gauge);
  co_return sum;
}

TEST_CASE("Stack: millions of awaits of a child in a loop need none") {
  constexpr int awaits = test::sanitized ? 1'000'000 : 10'000'000;
  StackGauge gauge;
  std::int64_t sum = 0;
  on_small_stack([&] {
    Executor executor(virtual_time);
    Handle<std::int64_t> handle = executor.submit(awaits_in_a_loop(awaits, gauge));
    executor.run();
    sum = handle.take();
  });
  CHECK(sum == awaits);
  CHECK(gauge.used_bytes() <= allowed_bytes);
}

Task<int> chain(int depth, StackGauge& gauge) {
  gauge.read();
  if (depth == 0) co_return 0;
  const int below = co_await chain(depth - 1, gauge);
  gauge.read();
  co_return below + 1;
}

TEST_CASE("Stack: a chain of 100,000 awaits begins and ends without any") {
  StackGauge gauge;
  int length = 0;
  on_small_stack([&] {
    Executor executor(virtual_time);
    Handle<int> handle = executor.submit(chain(deep, gauge));
    executor.run();
    length = handle.take();
  });
  CHECK(length == deep);
  CHECK(gauge.used_bytes() <= allowed_bytes);
}

enum class Leaf { sleeps, yields, waits };

Task<> suspended_chain(int depth, Leaf leaf, test::Gate& gate, StackGauge& gauge) {
  const ReadAtExit at_exit(gauge);
  if (depth > 0) {
    co_await suspended_chain(depth - 1, leaf, gate, gauge);
  } else if (leaf == Leaf::sleeps) {
    co_await Sleep(1h);
  } else if (leaf == Leaf::waits) {
    co_await gate.pass();
  } else {
    co_await Yield();
  }
}

TEST_CASE("Stack: an executor destroys a thread suspended 100,000 awaits deep without any") {
  for (const Leaf leaf : {Leaf::sleeps, Leaf::yields, Leaf::waits}) {
    StackGauge gauge;
    test::Gate gate;
    on_small_stack([&] {
      Executor executor(virtual_time);
      executor.submit(suspended_chain(deep, leaf, gate, gauge));
      executor.run_one();
    });
    CHECK(gauge.readings() == deep + 1);
    CHECK(gauge.used_bytes() <= allowed_bytes);
  }
}

TEST_CASE("Stack: a cancel unwinds a thread suspended 100,000 awaits deep without any") {
  StackGauge gauge;
  test::Gate gate;
  on_small_stack([&] {
    Executor executor(virtual_time);
    Handle<> handle = executor.submit(suspended_chain(deep, Leaf::sleeps, gate, gauge));
    executor.run_one();
    handle.cancel();
    executor.run();
  });
  CHECK(gauge.readings() == deep + 1);
  CHECK(gauge.used_bytes() <= allowed_bytes);
}

Task<> wraps(std::optional<Task<>> inner, StackGauge& gauge) {
  const ReadAtExit at_exit(gauge);
  if (inner) co_await *std::move(inner);
  co_await Sleep(1h);
}

Task<> wrapped(int depth, StackGauge& gauge) {
  Task<> task = wraps(std::nullopt, gauge);
  for (int i = 0; i < depth; ++i) {
    std::optional<Task<>> inner(std::move(task));
    task = wraps(std::move(inner), gauge);
  }
  return task;
}

Task<> holds_unstarted(test::Counted, Task<> inner) { co_await std::move(inner); }

TEST_CASE("Stack: tasks that own one another as arguments are destroyed without any, once they run") {
  StackGauge gauge;
  on_small_stack([&] {
    Executor executor(virtual_time);
    executor.submit(wrapped(deep, gauge));
    executor.run_one();
  });
  CHECK(gauge.readings() == deep + 1);
  CHECK(gauge.used_bytes() <= allowed_bytes);
}

TEST_CASE("Stack: tasks that own one another as arguments are dropped without any, before they run") {
  StackGauge gauge;
  int alive = 0;
  on_small_stack([&] {
    const Task<> dropped = wrapped(deep, gauge);
    static_cast<void>(dropped);
    Executor executor(virtual_time);
    executor.submit(wrapped(deep, gauge));
    executor.submit(holds_unstarted(test::Counted(alive), wrapped(deep, gauge)));
  });
  CHECK(gauge.readings() == 0);
  CHECK(alive == 0);
}

Task<> yields(int count, StackGauge& gauge) {
  for (int i = 0; i < count; ++i) {
    co_await Yield();
    gauge.read();
  }
}

TEST_CASE("Stack: two threads hand over to each other a million times without any") {
  StackGauge gauge;
  on_small_stack([&] {
    Executor executor(virtual_time);
    executor.submit(yields(1'000'000, gauge));
    executor.submit(yields(1'000'000, gauge));
    executor.run();
  });
  CHECK(gauge.readings() == 2'000'000);
  CHECK(gauge.used_bytes() <= allowed_bytes);
}

Task<> passes(test::Gate& gate, StackGauge& gauge) {
  const ReadAtExit at_exit(gauge);
  co_await gate.pass();
}
Task<> opens(test::Gate& gate) {
  gate.open();
  co_return;
}

TEST_CASE("Stack: 100,000 threads that one call wakes need none") {
  StackGauge gauge;
  test::Gate gate;
  on_small_stack([&] {
    Executor executor(virtual_time);
    for (int i = 0; i < deep; ++i) executor.submit(passes(gate, gauge));
    executor.submit(opens(gate));
    executor.run();
  });
  CHECK(gauge.readings() == deep);
  CHECK(gauge.used_bytes() <= allowed_bytes);
}

Task<int> joins(std::optional<Handle<int>> before, StackGauge& gauge) {
  gauge.read();
  if (!before) {
    co_await Sleep(1ms);
    co_return 0;
  }
  const int value = co_await *before;
  gauge.read();
  co_return value + 1;
}

TEST_CASE("Stack: a chain of 100,000 joined threads ends without any") {
  StackGauge gauge;
  int last = 0;
  on_small_stack([&] {
    Executor executor(virtual_time);
    Handle<int> handle = executor.submit(joins(std::nullopt, gauge));
    for (int i = 0; i < deep; ++i) {
      std::optional<Handle<int>> before(std::move(handle));
      handle = executor.submit(joins(std::move(before), gauge));
    }
    executor.run();
    last = handle.take();
  });
  CHECK(last == deep);
  CHECK(gauge.used_bytes() <= allowed_bytes);
}

}  // namespace
