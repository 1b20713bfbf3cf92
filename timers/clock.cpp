#include <time.h>

#include <bide/queue/require.hpp>
#include <bide/timers/clock.hpp>

namespace bide {

Instant RealClock::now() {
  timespec reading{};
  require(clock_gettime(CLOCK_MONOTONIC, &reading) == 0, "CLOCK_MONOTONIC cannot be read");
  return Instant(std::chrono::seconds(reading.tv_sec) + std::chrono::nanoseconds(reading.tv_nsec));
}

}  // namespace bide
