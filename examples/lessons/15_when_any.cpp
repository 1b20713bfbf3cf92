// Lesson 15: when_any
//
// What you learn: `when_any` runs several tasks at the same time and takes the first to end. The others are
// cancelled, and waited for: when it returns, none is at work any more. It tells who won and with what.
//
// Look at: the slow mirror hears of its defeat at 2 s, before the winner is announced. The vector form is for
// any number of one kind.
//
// Try: let the last three be equally far away: who falls asleep first wins, and what the others return at the
// same instant is dropped. To take from one of several channels and lose nothing, use `select` (lesson 22).

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/when_any.hpp>

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long seconds() { return now().time_since_epoch() / 1s; }

Task<int> fetch(const char* mirror, Duration time) {
  try {
    co_await Sleep(time);
  } catch (const Cancelled&) {
    std::printf("%lld s: %s is cancelled\n", seconds(), mirror);
    throw;
  }
  co_return 1000 * static_cast<int>(time / 1s);
}

Task<> download() {
  const auto [winner, bytes] = co_await when_any(fetch("Paris", 3s), fetch("Oslo", 2s));
  std::printf("%lld s: mirror %zu sent %d bytes\n", seconds(), winner, std::get<1>(bytes));

  std::vector<Task<int>> mirrors;
  for (const char* mirror : {"Rome", "Cairo", "Lima"}) {
    const Duration distance = (3 + mirrors.size()) * 1s;
    mirrors.push_back(fetch(mirror, distance));
  }
  const auto first = co_await when_any(std::move(mirrors));
  std::printf("%lld s: mirror %zu sent %d bytes\n", seconds(), first.index, first.value);
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(download());
  executor.run();
}
