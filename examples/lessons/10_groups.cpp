// Lesson 10: groups
//
// What you learn: `with_task_group` gives threads an owner. They may run as they like, but when it returns
// all of them have ended: none is forgotten, none uses what is gone. If one fails, the others are cancelled
// and waited for, and the error comes out.
//
// Look at: the body of the first group returns at 0 s, the group at 3 s. In the second, the film is cancelled
// when the image fails, and the error arrives after the film's last word.
//
// Try: let the film throw something else than Cancelled: `attached_errors()`, in the handler, has it.

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/task_group.hpp>

#include <cstdio>
#include <stdexcept>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long seconds() { return now().time_since_epoch() / 1s; }

Task<> load(const char* part, Duration time) {
  try {
    co_await Sleep(time);
  } catch (const Cancelled&) {
    std::printf("%lld s: %s is given up\n", seconds(), part);
    throw;
  }
  if (time == 2s) throw std::runtime_error("bad image");
  std::printf("%lld s: %s\n", seconds(), part);
}

Task<> page(TaskGroup& group, Duration image_time) {
  group.submit(load("text", 1s));
  group.submit(load("image", image_time));
  group.submit(load("film", 3s));
  std::printf("%lld s: three parts are on their way\n", seconds());
  co_return;
}

Task<> reader() {
  co_await with_task_group(page, 1s);
  std::printf("%lld s: the page is complete\n", seconds());
  try {
    co_await with_task_group(page, 2s);
  } catch (const std::runtime_error& error) {
    std::printf("%lld s: no page: %s\n", seconds(), error.what());
  }
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(reader());
  executor.run();
}
