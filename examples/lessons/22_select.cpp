// Lesson 22: select
//
// What you learn: `select` waits for the first of several things: an item, a place to send to, an event, a
// thread's end, an instant. Exactly one takes effect: an item that was not selected is still in its channel.
// `index` tells which it was, and `value` has what it gave.
//
// Look at: mail comes at 1 and 2 s, then nothing for 3 s: the clerk yawns. At 7 s mail and closing time come
// at one instant; the event was set first. The letter is not lost: it is there for the next day.
//
// Try: let the post office close after the letter, by sending before the `set`. Then make both ready before
// the clerk looks: of several that are ready, the lowest index wins.

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/select.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long seconds() { return now().time_since_epoch() / 1s; }

Task<> clerk(Channel<int>& mail, Event& closing_time) {
  while (true) {
    const auto selected = co_await select(receiving(mail), waiting(closing_time), Sleep(3s));
    if (selected.index == 0)
      std::printf("%lld s: letter %d\n", seconds(), std::get<0>(selected.value).value());
    if (selected.index == 1) break;
    if (selected.index == 2) std::printf("%lld s: the clerk yawns\n", seconds());
  }
  std::printf("%lld s: closed, %zu letter left in the box\n", seconds(), mail.size());
}

Task<> town(Channel<int>& mail, Event& closing_time) {
  co_await Sleep(1s);
  co_await mail.send(101);
  co_await Sleep(1s);
  co_await mail.send(102);
  co_await Sleep(5s);
  closing_time.set();
  co_await mail.send(103);
}

}  // namespace

int main() {
  Channel<int> mail(8, "mail");
  Event closing_time("closing time");
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(clerk(mail, closing_time));
  executor.submit(town(mail, closing_time));
  executor.run();
}
