// Lesson 28: an observer
//
// What you learn: why did this thread run, and why now? An Observer is told of every event of the loop: who
// was submitted, who woke, who gets the CPU, who ended, when time moved. Of ready threads the higher class
// goes first, and within a class the smaller sequence number, which a thread gets when it becomes ready. So
// the two numbers in each `runs` line are the whole reason.
//
// Look at: the writer was submitted first and has the smaller sequence, but the reader is of a higher class
// and runs first. So it also falls asleep first, and at 2 s it is the first of the two to wake.
//
// Try: make both normal. Then put a Yield into `work`, and see each thread get a fresh sequence number.

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

class Narrator final : public Observer {
 public:
  void submitted(const GreenThread& thread) override { tell(thread, "is submitted"); }
  void woken(const GreenThread& thread, Instant) override { tell(thread, "wakes"); }
  void resumed(const GreenThread& thread, Instant) override { tell(thread, "runs"); }
  void ended(const GreenThread& thread, Instant) override { std::printf("  %s ends\n", thread.name); }
  void time_moved(Instant, Instant to) override {
    std::printf("time moves to %s\n", to_string(to.time_since_epoch()).c_str());
  }

 private:
  static void tell(const GreenThread& thread, const char* what) {
    std::printf("  %s %s: class %s, sequence %d\n", thread.name, what, to_string(thread.priority),
                static_cast<int>(thread.sequence));
  }
};

Task<> work() { co_await Sleep(2s); }

}  // namespace

int main() {
  Narrator narrator;
  Executor executor({.time = TimeMode::virtual_time, .observer = &narrator});
  executor.submit(work(), {.name = "writer", .priority = Priority::normal});
  executor.submit(work(), {.name = "reader", .priority = Priority::high});
  executor.run();
}
