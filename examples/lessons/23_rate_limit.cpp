// Lesson 23: rate limit
//
// What you learn: a RateLimiter is a bucket of tokens that fills at a steady rate, up to `burst`. Who
// acquires a token goes on at once while there are some, and at the rate of the filling when there are none.
// It counts in whole nanoseconds and integers: after a million calls it is as exact as after the first.
//
// Look at: two a second, burst of three. The first three calls come at once, the next each half a second.
// After a pause the bucket is full again, but no fuller than three.
//
// Try: Rate(5, 1min), five a minute. Then `acquire(3)`: whoever needs more tokens waits longer, and in turn.

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/rate_limiter.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

Task<> caller(RateLimiter& limiter) {
  for (int call = 1; call <= 10; ++call) {
    if (call == 7) co_await Sleep(1h);
    co_await limiter.acquire();
    std::printf("call %2d at %s\n", call, to_string(now().time_since_epoch()).c_str());
  }
}

}  // namespace

int main() {
  RateLimiter limiter(Rate(2), 3, "calls");
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(caller(limiter));
  executor.run();
}
