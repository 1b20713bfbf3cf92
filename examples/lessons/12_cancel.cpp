// Lesson 12: cancel
//
// What you learn: a cancel does not kill a thread, it tells it. The wait that the thread is in throws
// Cancelled, so locals are destroyed and handlers run as with any exception. The cancel stays in force: each
// later wait throws too, so nobody who swallows one goes on for long.
//
// Look at: a catch of std::exception does not see it: code that guards against errors can't swallow a cancel
// by accident. The stubborn one swallows it on purpose, and meets it again at the next wait, at the same
// instant.
//
// Try: let the caller await both Handles at the end. One of the joins throws Cancelled: which, and why?

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>
#include <exception>

using namespace bide;
using namespace std::chrono_literals;

long long minutes() { return now().time_since_epoch() / 1min; }

Task<> walk() {
  int miles = 0;
  try {
    for (; true; ++miles) co_await Sleep(20min);
  } catch (const std::exception&) {
    std::printf("never printed\n");
  } catch (const Cancelled&) {
    std::printf("%lld min: the walker turns back after %d miles\n", minutes(), miles);
    throw;
  }
}

Task<> stubborn() {
  for (int attempt = 1; attempt <= 3; ++attempt) {
    try {
      co_await Sleep(8h);
    } catch (const Cancelled&) {
      std::printf("%lld min: the stubborn one is woken, attempt %d\n", minutes(), attempt);
    }
  }
}

Task<> caller() {
  Handle<> walker = submit(walk());
  Handle<> sleeper = submit(stubborn());
  co_await Sleep(61min);
  walker.cancel();
  sleeper.cancel();
  std::printf("%lld min: both are told, and neither has run yet\n", minutes());
}

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(caller());
  executor.run();
}
