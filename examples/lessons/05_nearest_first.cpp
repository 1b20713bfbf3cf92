// Lesson 5: nearest first
//
// What you learn: when nobody can run, time goes to the nearest wake-up, whoever fell asleep first. A sleep
// counts from the moment of the call: who wakes at 2 and sleeps 5 more wakes at 7.
//
// Look at: the dog wakes first although the cat was submitted first. At 2 the dog lies down again, and its
// new wake-up at 7 lies behind the cat's at 5.
//
// Try: let the dog's second nap take 3. It is due at 5 then, as the cat is: lesson 6 tells who is first.

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long hours() { return now().time_since_epoch() / 1h; }

Task<> cat() {
  std::printf("%lld h: the cat lies down for 5\n", hours());
  co_await Sleep(5h);
  std::printf("%lld h: the cat wakes\n", hours());
}

Task<> dog() {
  std::printf("%lld h: the dog lies down for 2\n", hours());
  co_await Sleep(2h);
  std::printf("%lld h: the dog wakes, and lies down for 5\n", hours());
  co_await Sleep(5h);
  std::printf("%lld h: the dog wakes\n", hours());
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(cat());
  executor.submit(dog());
  executor.run();
}
