// Lesson 1: a first task
//
// What you learn: calling a coroutine that returns Task<T> runs nothing. It makes a task: work that waits for
// somebody who wants it done. `co_await` inside another task does it and gives its value; `submit` gives it
// to an executor, which does it in `run`.
//
// Look at: the order of the lines. The call of `greet` prints nothing, and neither does `submit`.
//
// Try: remove the call of `run`. Then await one task twice (`co_await std::move(task)`): the program ends
// with a message, since a task is done once.

#include <bide/executor/executor.hpp>

#include <cstdio>
#include <utility>

using namespace bide;

namespace {

Task<int> doubled(int number) { co_return 2 * number; }

Task<> greet(const char* name) {
  const int answer = co_await doubled(21);
  std::printf("hello, %s: the answer is %d\n", name, answer);
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});

  Task<> task = greet("world");
  std::printf("the task is made, and nothing has run\n");

  executor.submit(std::move(task));
  std::printf("it is submitted, and still nothing has run\n");

  executor.run();
  std::printf("run returns when nothing is left to do\n");
}
