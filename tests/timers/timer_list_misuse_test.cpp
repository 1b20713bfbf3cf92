#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <bide/timers/timer_list.hpp>

namespace {

using bide::Duration;
using bide::Instant;
using bide::Timer;
using bide::TimerList;

constexpr Instant soon = Instant(Duration(5));

/// Whether `misuse` ends its process, a fork of this one, by abort.
template <class Misuse>
bool aborts(Misuse misuse) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);  // Catch2 would report it as a failure of the test
    misuse();
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace

TEST_CASE("TimerList: a broken contract ends the process, in every build") {
  TimerList timers;
  TimerList others;
  auto timer = std::make_unique<Timer>();
  auto second = std::make_unique<Timer>();

  CHECK(aborts([&] { timers.cancel(*timer); }));
  CHECK(aborts([&] { (void)timers.due(*timer); }));
  timers.arm(*timer, soon);
  CHECK(timers.due(*timer) == soon);
  CHECK(aborts([&] { (void)others.due(*timer); }));
  CHECK(aborts([&] { timers.arm(*timer, soon); }));
  CHECK(aborts([&] { others.cancel(*timer); }));
  CHECK(aborts([&] { timer.reset(); }));
  CHECK(aborts([&] { Timer elsewhere(std::move(*timer)); }));
  CHECK(aborts(
      [&] { timers.release(soon, [&](Timer&) noexcept { timers.arm(*second, soon - Duration(1)); }); }));
  CHECK(aborts(
      [&] { timers.release(soon, [&](Timer&) noexcept { timers.release(soon, [](Timer&) noexcept {}); }); }));
  CHECK(aborts([&] { timers.release(soon, [&](Timer&) noexcept { timers.clear(); }); }));
  CHECK(aborts([&] { timers.arm(*second, soon, timers.take_place() + 1); }));
  CHECK(aborts([&] {
    const std::uint64_t place = timers.take_place();
    timers.release(soon, [&](Timer&) noexcept { timers.arm(*second, soon, place); });
  }));
  CHECK_FALSE(aborts([&] {
    timers.arm(*second, soon, timers.take_place());
    timers.cancel(*second);
  }));
  CHECK_FALSE(aborts([&] { timers.release(soon, [](Timer&) noexcept {}); }));
  timers.clear();
}
