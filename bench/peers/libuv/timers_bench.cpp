// libuv's timers: row D. They are callbacks: there is no thread to wake.

#include <benchmark/benchmark.h>
#include <uv.h>

#include <cstdint>
#include <vector>

#include <bide/tests/random.hpp>

namespace {

// Its timers know milliseconds alone.
std::uint64_t up_to(std::uint64_t milliseconds, bide::test::Random& random) {
  return 1 + random.below(milliseconds);
}

void close_all(uv_loop_t& loop, std::vector<uv_timer_t>& timers) {
  for (uv_timer_t& timer : timers) uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}

void D_arm_cancel(benchmark::State& state) {
  uv_loop_t loop;
  uv_loop_init(&loop);
  bide::test::Random random(42);
  std::vector<uv_timer_t> timers(static_cast<std::size_t>(state.range(0)) + 1);
  for (uv_timer_t& timer : timers) {
    uv_timer_init(&loop, &timer);
    uv_timer_start(
        &timer, [](uv_timer_t*) {}, 3'600'000 + up_to(1000, random), 0);
  }
  uv_timer_t& timer = timers.back();
  while (state.KeepRunning()) {
    uv_timer_stop(&timer);
    uv_timer_start(
        &timer, [](uv_timer_t*) {}, 3'600'000 + up_to(1000, random), 0);
  }
  close_all(loop, timers);
}

void D_real_sleep_1e6(benchmark::State& state) {
  constexpr std::int64_t count = 1'000'000;
  bide::test::Random random(1);
  while (state.KeepRunningBatch(count)) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    std::vector<uv_timer_t> timers(count);
    for (uv_timer_t& timer : timers) {
      uv_timer_init(&loop, &timer);
      uv_timer_start(
          &timer, [](uv_timer_t*) {}, up_to(200, random), 0);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    close_all(loop, timers);
  }
}

BENCHMARK(D_arm_cancel)->RangeMultiplier(10)->Range(10, 1'000'000);
BENCHMARK(D_real_sleep_1e6);

}  // namespace
