// Lesson 17: inheritance
//
// What you learn: low work holds a lock, high work waits for it, and medium work, which needs no lock at all,
// keeps low work from running: the high thread waits for the medium one, against all priorities. A Mutex
// knows its owner, and lends it the class of its most urgent waiter until it unlocks. A Semaphore has no
// owner to lend to.
//
// Look at: with the semaphore, high gets the bus after all the medium turns; with the mutex, before them.
//
// Try: give the medium thread a thousand turns: which of the two stories gets longer for the high one?

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/semaphore.hpp>

#include <cstdio>

using namespace bide;

Task<> transfer(const char* name) {
  std::printf("  %s has the bus\n", name);
  for (int turn = 0; turn < 3; ++turn) co_await Yield();
  std::printf("  %s is done\n", name);
}

Task<> use_bus(Semaphore& bus, const char* name) {
  co_await bus.acquire();
  co_await transfer(name);
  bus.release();
}

Task<> use_bus(Mutex& bus, const char* name) {
  const Mutex::Guard guard = co_await bus.lock();
  co_await transfer(name);
}

Task<> hog_the_cpu() {
  for (int turn = 1; turn <= 4; ++turn) {
    std::printf("  medium, turn %d\n", turn);
    co_await Yield();
  }
}

template <class Bus>
void tell_story(const char* title, Bus& bus) {
  std::printf("%s:\n", title);
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(use_bus(bus, "low"), {.priority = Priority::low});
  executor.run_one();  // low has the bus before the others come
  executor.submit(hog_the_cpu(), {.priority = Priority::normal});
  executor.submit(use_bus(bus, "high"), {.priority = Priority::high});
  executor.run();
}

int main() {
  Semaphore semaphore(1, "bus");
  tell_story("a semaphore", semaphore);
  Mutex mutex("bus");
  tell_story("a mutex", mutex);
}
