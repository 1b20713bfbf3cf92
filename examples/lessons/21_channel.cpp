// Lesson 21: channel
//
// What you learn: a Channel hands items from thread to thread. It is bounded: who sends faster than others
// receive has to wait, so nothing piles up. `close` says that no more will come: what is in it is still
// received, and then `receive` gives an empty optional, the end of the loop.
//
// Look at: the baker wants to send a loaf each minute, but the shelf holds two and a customer takes three
// minutes: the fifth loaf is baked at 5 min and lies on the shelf at 7. From there on the baker works at the
// customers' speed.
//
// Try: capacity 0: each send meets a receive. Capacity 10: when is the baker done?

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/channel.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long minutes() { return now().time_since_epoch() / 1min; }

Task<> baker(Channel<int>& shelf) {
  for (int loaf = 1; loaf <= 6; ++loaf) {
    co_await Sleep(1min);
    co_await shelf.send(loaf);
    std::printf("%2lld min: loaf %d on the shelf\n", minutes(), loaf);
  }
  shelf.close();
  std::printf("%2lld min: the baker goes home\n", minutes());
}

Task<> customers(Channel<int>& shelf) {
  while (const auto loaf = co_await shelf.receive()) {
    std::printf("%2lld min: loaf %d is being paid\n", minutes(), *loaf);
    co_await Sleep(3min);
  }
  std::printf("%2lld min: sold out\n", minutes());
}

}  // namespace

int main() {
  Channel<int> shelf(2, "shelf");
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(baker(shelf));
  executor.submit(customers(shelf));
  executor.run();
}
