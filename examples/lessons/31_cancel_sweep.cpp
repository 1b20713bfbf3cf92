// Lesson 31: cancel at every point
//
// What you learn: a thread can be cancelled at each of its waits, and a test by hand tries one or two of
// them. `for_each_cancel_point` runs a scenario once for each point at which its first thread can be
// cancelled, and tells which runs hang, end in an error, or break the invariant that the scenario returns.
//
// Look at: the careless borrower gives the book back after its last wait: a cancel in between keeps it, and
// the next reader waits for ever. The careful one leaves it to a destructor, which runs however the thread
// ends.
//
// Try: print the failures: each names the point, the thread and the line.

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/testing/cancel_sweep.hpp>

#include <chrono>
#include <cstdio>
#include <memory>

using namespace bide;
using namespace std::chrono_literals;

namespace {

struct GivesBack {
  Semaphore& books;
  ~GivesBack() { books.release(); }
};

Task<> borrow_carelessly(Semaphore& books) {
  co_await books.acquire();
  co_await Sleep(14h);  // reads
  co_await Sleep(1h);   // walks home
  books.release();
}

Task<> borrow_carefully(Semaphore& books) {
  co_await books.acquire();
  const GivesBack gives_back{books};
  co_await Sleep(14h);  // reads
  co_await Sleep(1h);   // walks home
}

void sweep(const char* name, Task<> (*borrow)(Semaphore&)) {
  const auto report = testing::for_each_cancel_point([=](Executor& executor) {
    const auto books = std::make_shared<Semaphore>(1, "books");
    executor.submit(borrow(*books));
    executor.submit(borrow(*books));
    return [books] { return books->value() == 1; };
  });
  std::printf("%s: %zu points, %zu failures\n", name, report.points, report.failures.size());
}

}  // namespace

int main() {
  sweep("careless", borrow_carelessly);
  sweep("careful", borrow_carefully);
}
