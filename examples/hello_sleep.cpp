// A green thread that sleeps, in virtual time: it says hello after an hour, and the program ends at once.
//
// `co_await bide::Sleep(1h)` gives the CPU away until the executor's clock shows one hour more. In virtual
// time that clock stands while anything can run, and then jumps to whoever is due next. Make it
// TimeMode::real_time, and the same code waits the hour.

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

namespace {

long long minutes() { return bide::now().time_since_epoch() / 1min; }

bide::Task<> hello() {
  std::printf("at %lld min: good night\n", minutes());
  co_await bide::Sleep(1h);
  std::printf("at %lld min: hello\n", minutes());
}

}  // namespace

int main() {
  bide::Executor executor({.time = bide::TimeMode::virtual_time});
  executor.submit(hello());
  const bide::RunReport report = executor.run();
  std::printf("jumps of the clock: %llu\n", static_cast<unsigned long long>(report.ticks));
}
