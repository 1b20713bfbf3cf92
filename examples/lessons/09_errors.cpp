// Lesson 9: errors
//
// What you learn: an exception comes out where the result would have: of `co_await task`, of `co_await
// handle`. If nobody has the Handle, it is nobody's, and must not get lost: the other threads are cancelled,
// and `run` throws it, the same object, when all have ended.
//
// Look at: Ann catches both of hers. Ben's is thrown by `run`, and the sleeper is told first and can clean up.
//
// Try: let Ben await the Handle in a try block, as Ann does: `run` does not throw any more.

#include <bide/executor/executor.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

using namespace bide;
using namespace std::chrono_literals;

Task<int> divide(int dividend, int divisor) {
  if (divisor == 0) throw std::domain_error(std::to_string(dividend) + " by zero");
  co_return dividend / divisor;
}

Task<> ann() {
  try {
    co_await divide(1, 0);
  } catch (const std::domain_error& error) {
    std::printf("Ann awaited a task: %s\n", error.what());
  }
  try {
    co_await submit(divide(2, 0));
  } catch (const std::domain_error& error) {
    std::printf("Ann awaited a thread: %s\n", error.what());
  }
}

Task<> ben() {
  co_await Sleep(1s);
  submit(divide(3, 0));  // the Handle is dropped
}

Task<> sleeper() {
  try {
    co_await Sleep(1h);
  } catch (const Cancelled&) {
    std::printf("the sleeper is cancelled\n");
    throw;
  }
}

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  for (Task<> (*thread)() : {ann, ben, sleeper}) executor.submit(thread());
  try {
    executor.run();
  } catch (const std::domain_error& error) {
    std::printf("run throws: %s\n", error.what());
  }
}
