// Lesson 32: every schedule
//
// What you learn: the executor promises an order among equals, but the world outside promises none: the
// customer may come before the shop opens. `for_each_schedule` runs a scenario under every order of ready
// threads of one class, and tells under which of them it fails. A failure has a short text that replays it,
// step by step.
//
// Look at: the hasty customer is served in the promised order, and finds the door closed in three of the six.
// The patient one waits for an event instead of hoping, and all orders pass.
//
// Try: add a second shopkeeper or customer: how fast does the number grow? For more than a handful of threads
// there is `for_random_schedules`.

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/testing/schedules.hpp>

#include <cstdio>
#include <stdexcept>

using namespace bide;

namespace {

Task<> keep_shop(Event& open) {
  co_await Yield();  // sweeps first
  open.set();
}

Task<> buy_hastily(Event& open) {
  co_await Yield();  // a long way
  if (!open.is_set()) throw std::runtime_error("the shop is closed");
}

Task<> buy_patiently(Event& open) {
  co_await Yield();
  co_await open.wait();
}

void try_orders(const char* name, Task<> (*buy)(Event&)) {
  const auto scenario = [=](Executor& executor) {
    Event open("open");
    executor.submit(keep_shop(open));
    executor.submit(buy(open));
    executor.run();
  };
  const auto report = testing::for_each_schedule(scenario, {.print = testing::ScheduleOptions::Print::no});
  std::printf("%s: %s\n", name, report.text().c_str());
}

}  // namespace

int main() {
  try_orders("hasty", buy_hastily);
  try_orders("patient", buy_patiently);
}
