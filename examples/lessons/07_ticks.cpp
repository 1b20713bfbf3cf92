// Lesson 7: ticks
//
// What you learn: virtual time moves only when nothing can run, and `ticks()` counts how often it did. What
// waits for nothing costs no tick: a Yield, a sleep of zero, an instant that has come. A test moves time
// itself with `run_until` and `run_for`, as far as it likes, and looks around in between.
//
// Look at: which line has a tick more than the one before. After `run_for(1min)` the sleeper is still asleep:
// its time has not come, and that is no error.
//
// Try: sleep -1s. Then submit two sleepers of 5s: how many ticks? (Lesson 6 knows.)

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

void tell(const char* what, const Executor& executor) {
  std::printf("%-22s %4s, ticks: %d\n", what, to_string(executor.now().time_since_epoch()).c_str(),
              static_cast<int>(executor.ticks()));
}

Task<> wander(const Executor& executor) {
  tell("at the start", executor);
  co_await Yield();
  tell("after a Yield", executor);
  co_await Sleep(0s);
  tell("after Sleep(0s)", executor);
  co_await Sleep(5s);
  tell("after Sleep(5s)", executor);
  co_await Sleep(90s);
  tell("after Sleep(90s)", executor);
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(wander(executor));
  executor.run_for(1min);
  tell("run_for(1min) returned", executor);
  executor.run();
  tell("run returned", executor);
}
