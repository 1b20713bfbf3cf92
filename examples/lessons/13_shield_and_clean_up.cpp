// Lesson 13: shield and clean-up
//
// What you learn: a cancelled thread can do anything but wait: each wait throws. A clean-up that has to wait,
// to say goodbye or to flush a file, goes into `shielded`, where a cancel from outside is not felt. Give
// every shield a limit of time: from outside it can't be stopped.
//
// Look at: the rude guest is cancelled while saying goodbye and leaves without. The polite one takes the
// second it needs, and only then hears of the cancel again. C++ has no `co_await` in a catch handler: hence
// the flag.
//
// Try: let a goodbye take 3 s: the limit inside the shield cuts it off.

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/timeout.hpp>

#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

enum class Manners { rude, polite };
long long seconds() { return now().time_since_epoch() / 1s; }

Task<> say_goodbye(const char* name) {
  co_await Sleep(1s);
  std::printf("%lld s: %s says goodbye\n", seconds(), name);
}

Task<> guest(const char* name, Manners manners) {
  bool asked_to_leave = false;
  try {
    co_await Sleep(10s);
  } catch (const Cancelled&) {
    std::printf("%lld s: %s is asked to leave\n", seconds(), name);
    asked_to_leave = true;
  }
  if (asked_to_leave && manners == Manners::rude) co_await say_goodbye(name);
  if (asked_to_leave && manners == Manners::polite) co_await shielded(try_timeout(2s, say_goodbye(name)));
  co_await Yield();
  std::printf("%lld s: %s stays\n", seconds(), name);  // not after a cancel
}

Task<> host() {
  Handle<> first = submit(guest("Ann", Manners::rude));
  Handle<> second = submit(guest("Ben", Manners::polite));
  co_await Sleep(5s);
  first.cancel();
  second.cancel();
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(host());
  executor.run();
}
