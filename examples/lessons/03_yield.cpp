// Lesson 3: yield
//
// What you learn: green threads are polite, not preempted. A thread that computes for long keeps all others
// from running, until it says `co_await Yield()`: it goes to the back of the queue, and comes back when those
// who were ready have had their turn.
//
// Look at: the readers take turns, a chapter each, and Cid, who has only one, drops out after the first
// round.
//
// Try: remove the Yield. Each reads a whole book in one turn, and the count of turns says so.

#include <bide/executor/executor.hpp>

#include <cstdio>

using namespace bide;

namespace {

Task<> read_aloud(const char* name, int chapters) {
  for (int chapter = 1; chapter <= chapters; ++chapter) {
    std::printf("%s reads chapter %d\n", name, chapter);
    co_await Yield();
  }
  std::printf("%s closes the book\n", name);
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(read_aloud("Ann", 3));
  executor.submit(read_aloud("Ben", 2));
  executor.submit(read_aloud("Cid", 1));
  const RunReport report = executor.run();
  std::printf("turns given: %d\n", static_cast<int>(report.resumes));
}
