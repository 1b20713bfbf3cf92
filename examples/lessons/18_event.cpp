// Lesson 18: event
//
// What you learn: an Event is a flag to wait for. `set` is a plain call that lets all waiters through, and
// all who come later, until `reset`. A Latch opens when it has been counted down to zero: for "everybody is
// ready".
//
// Look at: the starter waits for three runners by the latch, then fires. The runners go in the order in which
// they came to the line. The spectator comes late, finds the event set, and does not wait at all.
//
// Try: call `gun.reset()` right after `gun.set()`: the runners are through for good, but the spectator waits
// for ever. What does `run` say to that? (Lesson 26.)

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/latch.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long seconds() { return now().time_since_epoch() / 1s; }

Task<> run_race(const char* name, Duration way_to_the_line, Latch& ready, Event& gun) {
  co_await Sleep(way_to_the_line);
  std::printf("%lld s: %s is at the line\n", seconds(), name);
  ready.count_down();
  co_await gun.wait();
  std::printf("%lld s: %s runs\n", seconds(), name);
}

Task<> start_race(Latch& ready, Event& gun) {
  co_await ready.wait();
  std::printf("%lld s: all are ready: bang\n", seconds());
  gun.set();
}

Task<> watch(Event& gun) {
  co_await Sleep(9s);
  co_await gun.wait();
  std::printf("%lld s: the spectator sees dust\n", seconds());
}

}  // namespace

int main() {
  Latch ready(3, "ready");
  Event gun("gun");
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(start_race(ready, gun));
  executor.submit(run_race("Ann", 2s, ready, gun));
  executor.submit(run_race("Ben", 1s, ready, gun));
  executor.submit(run_race("Cid", 3s, ready, gun));
  executor.submit(watch(gun));
  executor.run();
}
