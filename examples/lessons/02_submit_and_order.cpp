// Lesson 2: submit and order
//
// What you learn: a submitted task is a green thread. All green threads of an executor share one OS thread:
// each runs until it has to wait or ends, and nobody interrupts it. Who becomes ready first goes first, and a
// submit puts the new thread behind all that are ready: the order follows from the program alone.
//
// Look at: Ben goes on talking after he has submitted Eve, and Eve comes after Cid, who was there before her.
//
// Try: swap two submits in `main`. Then let Ben write `co_await sit_down("Eve")` instead: no thread is made,
// and Eve sits down in the middle of Ben's turn.

#include <bide/executor/executor.hpp>

#include <cstdio>

using namespace bide;

namespace {

Task<> sit_down(const char* name) {
  std::printf("%s sits down\n", name);
  co_return;
}

Task<> bring_a_friend() {
  std::printf("Ben calls Eve\n");
  submit(sit_down("Eve"));  // on the executor that runs this thread
  std::printf("Ben sits down\n");
  co_return;
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(sit_down("Ann"));
  executor.submit(bring_a_friend());
  executor.submit(sit_down("Cid"));
  const RunReport report = executor.run();
  std::printf("turns given: %d\n", static_cast<int>(report.resumes));
}
