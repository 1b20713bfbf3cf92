// Lesson 20: semaphore
//
// What you learn: a Semaphore holds a number of permits: so many may be inside at once, and the next waits
// until one is given back. Who waits is served by class, then in the order of coming, and a big request is
// not passed by small ones behind it.
//
// Look at: three lanes. Two swimmers are in; the team needs all three and waits; Eve, who needs one, could go
// in at once, but the team was first. So she waits too, and the team is not starved by an endless row of
// Eves.
//
// Try: make the team's priority low: who goes first now?

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/semaphore.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long minutes() { return now().time_since_epoch() / 1min; }

Task<> swim(Semaphore& lanes, const char* name, std::size_t lanes_needed, Duration time) {
  co_await lanes.acquire(lanes_needed);
  std::printf("%2lld min: %s in, %zu free\n", minutes(), name, lanes.value());
  co_await Sleep(time);
  std::printf("%2lld min: %s out\n", minutes(), name);
  lanes.release(lanes_needed);
}

}  // namespace

int main() {
  Semaphore lanes(3, "lanes");
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(swim(lanes, "Ann", 1, 10min));
  executor.submit(swim(lanes, "Ben", 1, 20min));
  executor.submit(swim(lanes, "the team", 3, 30min));
  executor.submit(swim(lanes, "Eve", 1, 10min));
  executor.run();
}
