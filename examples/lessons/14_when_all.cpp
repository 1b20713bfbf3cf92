// Lesson 14: when_all
//
// What you learn: `when_all` runs several tasks at the same time, each in a green thread of its own, and
// returns all results when the last has ended, in the order of the arguments. An error of one cancels the
// others and comes out; `when_all_settled` lets all of them end and gives an Outcome for each, a value or an
// error.
//
// Look at: the three prices arrive in the order asked, after 3 s, the time of the slowest. In the second part
// the bakery's error comes at 4 s and the butcher's price at 5 s, and both are there to look at.
//
// Try: ask for the second pair with `when_all`: nobody catches its error, so `run` throws it, and the program
// ends with its text. Which price do you no longer see?

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/when_all.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>

using namespace bide;
using namespace std::chrono_literals;

namespace {

long long seconds() { return now().time_since_epoch() / 1s; }

Task<int> ask_price(const char* shop, int price, Duration time) {
  co_await Sleep(time);
  if (price == 0) throw std::runtime_error("sold out");
  std::printf("%lld s: %s asks %d\n", seconds(), shop, price);
  co_return price;
}

Task<> customer() {
  const auto [bread, milk, eggs] =
      co_await when_all(ask_price("bakery", 4, 3s), ask_price("dairy", 2, 1s), ask_price("farm", 5, 2s));
  std::printf("%lld s: bread %d, milk %d, eggs %d\n", seconds(), bread, milk, eggs);

  const auto [cake, ham] = co_await when_all_settled(ask_price("bakery", 0, 1s), ask_price("butcher", 8, 2s));
  std::printf("%lld s: cake %s, ham %s\n", seconds(), cake ? "yes" : "no", ham ? "yes" : "no");
}

}  // namespace

int main() {
  Executor executor({.time = TimeMode::virtual_time});
  executor.submit(customer());
  executor.run();
}
