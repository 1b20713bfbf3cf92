// Lesson 11: timeout
//
// What you learn: `timeout(2s, task)` gives a task two seconds. If they are over first, the task is cancelled
// and waited for, and TimedOut comes out; `try_timeout` gives an empty optional instead. It works on anything
// that can be awaited, and costs one timer, not a thread.
//
// Look at: the oracle hears at 2 s that its time is up, before its caller does: when the caller goes on,
// nothing is still at work behind its back.
//
// Try: ask for the first answer with `timeout(2s, try_timeout(4s, ask(3s)))`: which of the two limits speaks?
// Then with `timeout(4s, try_timeout(2s, ask(3s)))`.

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/timeout.hpp>

#include <chrono>
#include <cstdio>
#include <optional>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long seconds() { return now().time_since_epoch() / 1s; }

Task<int> ask(Duration thinking) {
  try {
    co_await Sleep(thinking);
  } catch (const Cancelled&) {
    std::printf("%lld s: the oracle is told to stop\n", seconds());
    throw;
  }
  co_return 42;
}

Task<> seeker() {
  try {
    co_await timeout(2s, ask(3s));
  } catch (const TimedOut&) {
    std::printf("%lld s: no answer within two seconds\n", seconds());
  }

  const std::optional<int> answer = co_await try_timeout(4s, ask(3s));
  std::printf("%lld s: the answer is %d\n", seconds(), answer.value_or(0));
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(seeker());
  executor.run();
}
