// Lesson 19: condition variable
//
// What you learn: a ConditionVariable waits until something that a Mutex guards has become so. `wait` gives
// the mutex away, sleeps until it is notified, and takes the mutex back; with a condition to test it does so
// until the test holds. When `wait` returns, the condition is true and the mutex is yours.
//
// Look at: the ferry is notified of each car, and departs with the fourth, not the first: it holds the mutex
// again by then, so no car can slip on in between.
//
// Try: leave out the condition, `wait(guard)`: with how many cars does the ferry depart? Then write the loop
// yourself, and compare: `while (deck.cars < 4) co_await deck.changed.wait(guard);`

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/condition_variable.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

struct Deck {
  Mutex mutex{"deck"};
  ConditionVariable changed{"deck has changed"};
  int cars = 0;
};

long long minutes() { return now().time_since_epoch() / 1min; }

Task<> ferry(Deck& deck) {
  Mutex::Guard guard = co_await deck.mutex.lock();
  co_await deck.changed.wait(guard, [&] { return deck.cars == 4; });
  std::printf("%lld min: the ferry departs with %d cars\n", minutes(), deck.cars);
}

Task<> car(Deck& deck, Duration arrival) {
  co_await Sleep(arrival);
  const Mutex::Guard guard = co_await deck.mutex.lock();
  ++deck.cars;
  std::printf("%lld min: car %d drives on\n", minutes(), deck.cars);
  deck.changed.notify_all();
}

}  // namespace

int main() {
  Deck deck;
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(ferry(deck));
  for (const Duration arrival : {3min, 1min, 8min, 5min}) executor.submit(car(deck, arrival));
  executor.run();
}
