// Lesson 4: sleep
//
// What you learn: `co_await Sleep(8min)` gives the CPU away for at least that long, and threads sleep side by
// side. Here the time is virtual: the clock starts at 0, stands still while any thread can run, and jumps
// when none can. The program is done at once, whatever it sleeps.
//
// Look at: the dinner takes ten minutes, not eighteen: the longest sleep and not the sum.
//
// Try: sleep a year. Then say TimeMode::real_time, make the minutes seconds, and watch the same lines come in
// real time (`now()` then counts from the start of the machine).

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long minutes() { return now().time_since_epoch() / 1min; }

Task<> cook(const char* dish, Duration time) {
  std::printf("%2lld min: %s on the stove\n", minutes(), dish);
  co_await Sleep(time);
  std::printf("%2lld min: %s done\n", minutes(), dish);
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(cook("sauce", 10min));
  executor.submit(cook("pasta", 8min));
  const RunReport report = executor.run();
  std::printf("dinner after %s\n", to_string(report.now.time_since_epoch()).c_str());
}
