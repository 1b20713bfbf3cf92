// Stops in the middle of a run: threads that are ready, running, asleep, and waiting for what time brings.

#include <cstdio>
#include <cstdlib>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;

Task<> sleeps(Duration duration) { co_await Sleep(duration); }
Task<> selects(Event& event) {
  const auto selected = co_await select(waiting(event), Sleep(2500us));
  static_cast<void>(selected);
}
Task<> acquires(RateLimiter& limiter) {
  co_await limiter.acquire(4);
  co_await limiter.acquire(3);
}
Task<> says_and_aborts() {
  co_await Sleep(1ms);
  std::fputs(Executor::current().dump().c_str(), stdout);
  std::fflush(stdout);
  std::abort();
}

}  // namespace

bide::Executor* executor_that_runs = nullptr;  // for the debugger

int main() {
  Event never;
  RateLimiter limiter(Rate(1), 4, "limit");
  Executor executor({.time = TimeMode::virtual_time});
  executor_that_runs = &executor;
  executor.submit(sleeps(1h), {.name = "asleep"});
  executor.submit(selects(never));
  executor.submit(acquires(limiter));
  executor.submit(says_and_aborts(), {.name = "running"});
  executor.submit(sleeps(1ms), {.name = "ready"});
  executor.run();
}
