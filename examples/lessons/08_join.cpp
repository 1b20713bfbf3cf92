// Lesson 8: join
//
// What you learn: `submit` returns a Handle, and `co_await handle` waits for the thread's end and gives its
// result. Awaiting a task does the work here and now; submitting it lets it happen beside yours. That is the
// whole difference between one after the other and at the same time.
//
// Look at: the times. Two searches of 3 s each take 6 s when awaited and 3 s when submitted.
//
// Try: drop the Handle: the thread goes on, and its result is lost with nobody to take it. Ask
// `handle.done()` before and after the await.

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long seconds() { return now().time_since_epoch() / 1s; }

Task<int> search(int shelf) {
  co_await Sleep(3s);
  co_return 10 * shelf;  // books found
}

Task<> librarian() {
  const int first = co_await search(1);
  const int second = co_await search(2);
  std::printf("%lld s: %d books, one search after the other\n", seconds(), first + second);

  Handle<int> third = submit(search(3));
  Handle<int> fourth = submit(search(4));
  const int found = co_await third + co_await fourth;
  std::printf("%lld s: %d books, two searches at once\n", seconds(), found);
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(librarian());
  executor.run();
}
