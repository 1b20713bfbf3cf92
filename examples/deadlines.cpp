// Deadlines: work says until when it has to be done and how long it takes, and goes first when its time
// comes.
//
// What counts is the latest start, the deadline minus the duration. Over the last five seconds before it the
// work's urgency rises, and it overtakes higher classes that have no deadline; only critical work is never
// overtaken. Inside a class the earliest latest start goes first, not the earliest deadline: the cake before
// the pie.
//
// The same five jobs are given to an executor at 0, 4 and 8 seconds. They do nothing but tell that it is
// their turn.

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

namespace {

bide::Task<> take_turn(const char* name) {
  std::printf(" %s", name);
  co_return;
}

void show_order_at(bide::Duration time) {
  using enum bide::Priority;
  const bide::Instant start{};  // of virtual time
  bide::Executor executor({.time = bide::TimeMode::virtual_time});
  executor.run_until(start + time);

  executor.submit(take_turn("bread"), {.priority = high});
  executor.submit(take_turn("pie"), {.priority = normal, .deadline = start + 9s, .duration_hint = 500ms});
  executor.submit(take_turn("cake"), {.priority = normal, .deadline = start + 10s, .duration_hint = 2s});
  executor.submit(take_turn("rolls"), {.priority = low, .deadline = start + 10s, .duration_hint = 5s});
  executor.submit(take_turn("fire-drill"), {.priority = critical});

  std::printf("at %lld s:", static_cast<long long>(time / 1s));
  executor.run();
  std::printf("\n");
}

}  // namespace

int main() {
  show_order_at(0s);  // no latest start is near: by class
  show_order_at(4s);  // rolls have to start within a second, the cake within four
  show_order_at(8s);  // rolls are late, and the cake has to start now
}
