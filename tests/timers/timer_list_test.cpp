#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <bide/tests/random.hpp>
#include <bide/timers/timer_list.hpp>

namespace {

using bide::Duration;
using bide::Instant;
using bide::Timer;
using bide::TimerList;

struct Sleeper : Timer {
  explicit Sleeper(int its_number) : number(its_number) {}
  int number;
};

constexpr Instant at(std::int64_t nanoseconds) { return Instant(Duration(nanoseconds)); }

std::deque<Sleeper> sleepers(int count) {
  std::deque<Sleeper> made;
  for (int number = 0; number != count; ++number) made.emplace_back(number);
  return made;
}

int number_of(const Timer& timer) { return static_cast<const Sleeper&>(timer).number; }

/// The numbers that one release fires, in its order.
std::vector<int> fired(TimerList& timers, Instant until = Instant::max()) {
  std::vector<int> numbers;
  const std::size_t count =
      timers.release(until, [&](Timer& timer) noexcept { numbers.push_back(number_of(timer)); });
  CHECK(count == numbers.size());
  return numbers;
}

using Numbers = std::vector<int>;

}  // namespace

TEST_CASE("TimerList: an empty list has nothing due and releases nothing") {
  TimerList timers;
  CHECK(timers.empty());
  CHECK(timers.size() == 0);
  CHECK(timers.next_due() == std::nullopt);
  CHECK(fired(timers).empty());
}

TEST_CASE("TimerList: one release fires the earliest instant only, in the order of arming") {
  auto s = sleepers(5);
  TimerList timers;
  timers.arm(s[0], at(20));
  timers.arm(s[1], at(10));
  timers.arm(s[2], at(20));
  timers.arm(s[3], at(10));
  timers.arm(s[4], at(-3));
  CHECK(timers.size() == 5);
  CHECK(timers.next_due() == at(-3));
  CHECK(fired(timers) == Numbers{4});
  CHECK(timers.next_due() == at(10));
  CHECK(fired(timers) == Numbers{1, 3});
  CHECK(fired(timers) == Numbers{0, 2});
  CHECK(timers.empty());
}

TEST_CASE("TimerList: a release stops short of what is due later") {
  auto s = sleepers(1);
  TimerList timers;
  timers.arm(s[0], at(10));
  CHECK(fired(timers, at(9)).empty());
  CHECK(s[0].armed());
  CHECK(fired(timers, at(10)) == Numbers{0});
  CHECK_FALSE(s[0].armed());
}

TEST_CASE("TimerList: the first and the last instant are instants like others") {
  auto s = sleepers(4);
  TimerList timers;
  timers.arm(s[0], Instant::max());
  timers.arm(s[1], Instant::min());
  timers.arm(s[2], Instant::max() - Duration(1));
  timers.arm(s[3], Instant::max());
  CHECK(timers.next_due() == Instant::min());
  CHECK(fired(timers, Instant::min()) == Numbers{1});
  CHECK(fired(timers) == Numbers{2});
  CHECK(fired(timers, Instant::max() - Duration(1)).empty());
  CHECK(timers.next_due() == Instant::max());
  CHECK(fired(timers) == Numbers{0, 3});
}

TEST_CASE("TimerList: a cancelled timer neither fires nor counts as due") {
  auto s = sleepers(3);
  TimerList timers;
  for (auto& sleeper : s) timers.arm(sleeper, at(10 * (1 + sleeper.number)));
  timers.cancel(s[0]);
  CHECK_FALSE(s[0].armed());
  CHECK(timers.next_due() == at(20));
  timers.cancel(s[2]);
  CHECK(timers.size() == 1);
  CHECK(fired(timers) == Numbers{1});
  CHECK(timers.next_due() == std::nullopt);
}

TEST_CASE("TimerList: arming again after a cancel goes behind the others of the instant") {
  auto s = sleepers(3);
  TimerList timers;
  for (auto& sleeper : s) timers.arm(sleeper, at(10));
  timers.cancel(s[0]);
  timers.arm(s[0], at(10));
  CHECK(fired(timers) == Numbers{1, 2, 0});
}

TEST_CASE("TimerList: a timer cancelled by an earlier one of its release does not fire") {
  auto s = sleepers(4);
  TimerList timers;
  for (auto& sleeper : s) timers.arm(sleeper, at(5));
  Numbers order;
  const std::size_t count = timers.release(at(5), [&](Timer& timer) noexcept {
    order.push_back(number_of(timer));
    if (number_of(timer) == 0) timers.cancel(s[1]);
    if (number_of(timer) == 2) timers.cancel(s[3]);
  });
  CHECK(order == Numbers{0, 2});
  CHECK(count == 2);
  CHECK(timers.empty());
}

TEST_CASE("TimerList: what a release arms waits for the next one, at the same instant too") {
  auto s = sleepers(4);
  TimerList timers;
  timers.arm(s[0], at(5));
  timers.arm(s[1], at(5));
  Numbers order;
  timers.release(at(5), [&](Timer& timer) noexcept {
    order.push_back(number_of(timer));
    CHECK_FALSE(timer.armed());
    timers.arm(timer, at(5));                            // itself
    if (number_of(timer) == 0) timers.arm(s[2], at(5));  // another
    if (number_of(timer) == 1) timers.arm(s[3], at(6));  // later
  });
  CHECK(order == Numbers{0, 1});
  CHECK(timers.next_due() == at(5));
  CHECK(fired(timers) == Numbers{0, 2, 1});
  CHECK(fired(timers) == Numbers{3});
}

TEST_CASE("TimerList: a timer cancelled and armed again within its release waits for the next one") {
  auto s = sleepers(3);
  TimerList timers;
  for (auto& sleeper : s) timers.arm(sleeper, at(5));
  Numbers order;
  timers.release(at(5), [&](Timer& timer) noexcept {
    order.push_back(number_of(timer));
    if (number_of(timer) != 0) return;
    timers.cancel(s[1]);
    timers.arm(s[1], at(5));
  });
  CHECK(order == Numbers{0, 2});
  CHECK(fired(timers) == Numbers{1});
}

TEST_CASE("TimerList: the last of a release, cancelled from within, leaves later timers due") {
  auto s = sleepers(3);
  TimerList timers;
  timers.arm(s[0], at(5));
  timers.arm(s[1], at(5));
  timers.release(at(5), [&](Timer&) noexcept {
    timers.cancel(s[1]);
    timers.arm(s[2], at(8));
  });
  CHECK(timers.next_due() == at(8));
  CHECK(fired(timers) == Numbers{2});
}

TEST_CASE("TimerList: after a release an earlier instant may be armed again") {
  auto s = sleepers(2);
  TimerList timers;
  timers.arm(s[0], at(50));
  CHECK(fired(timers) == Numbers{0});
  timers.arm(s[1], at(10));
  CHECK(fired(timers) == Numbers{1});
}

TEST_CASE("TimerList: clear disarms all and fires none") {
  auto s = sleepers(3);
  {
    TimerList timers;
    for (auto& sleeper : s) timers.arm(sleeper, at(5));
    timers.clear();
    CHECK(timers.empty());
    for (auto& sleeper : s) CHECK_FALSE(sleeper.armed());
    timers.arm(s[1], at(5));
  }
  CHECK_FALSE(s[1].armed());  // so does the end of the list
}

TEST_CASE("Timer: moves while it is not armed, and takes 4 bytes") {
  STATIC_REQUIRE(sizeof(Timer) == 4);
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<Timer>);
  Sleeper first(7);
  Sleeper moved = std::move(first);
  TimerList timers;
  timers.arm(moved, at(1));
  CHECK(fired(timers) == Numbers{7});
}

TEST_CASE("TimerList: ten thousand timers of one instant fire as armed, less the cancelled, in one release") {
  constexpr int count = 10'000;
  bide::test::Random random(11);
  auto s = sleepers(count);
  std::vector<int> armed(count);
  for (int i = 0; i != count; ++i) armed[static_cast<std::size_t>(i)] = i;
  for (std::size_t i = count - 1; i > 0; --i) std::swap(armed[i], armed[random.below(i + 1)]);
  TimerList timers;
  Sleeper before(-1);
  Sleeper after(-2);
  timers.arm(after, at(101));
  for (const int number : armed) timers.arm(s[static_cast<std::size_t>(number)], at(100));
  timers.arm(before, at(99));
  Numbers expected;
  for (const int number : armed) {
    if (random.below(4) == 0) {
      timers.cancel(s[static_cast<std::size_t>(number)]);
    } else {
      expected.push_back(number);
    }
  }
  CHECK(fired(timers) == Numbers{-1});
  Numbers order;
  timers.release(at(100), [&](Timer& timer) noexcept {
    order.push_back(number_of(timer));
    if (number_of(timer) % 16 == 0) timers.arm(timer, at(100));
  });
  CHECK(order == expected);
  std::erase_if(expected, [](int number) { return number % 16 != 0; });
  CHECK(fired(timers) == expected);
  CHECK(fired(timers) == Numbers{-2});
}

TEST_CASE("TimerList: a hundred thousand timers leave in order, whichever were cancelled") {
  constexpr std::size_t count = 100'000;
  bide::test::Random random(12);
  auto s = sleepers(count);
  std::vector<std::pair<std::int64_t, int>> expected;
  TimerList timers;
  for (auto& sleeper : s) {
    const auto due = static_cast<std::int64_t>(random.below(count));
    timers.arm(sleeper, at(due));
    expected.emplace_back(due, sleeper.number);
  }
  std::erase_if(expected, [&](const auto& entry) {
    if (random.below(3) != 0) return false;
    timers.cancel(s[static_cast<std::size_t>(entry.second)]);
    return true;
  });
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<std::pair<std::int64_t, int>> order;
  while (const auto due = timers.next_due()) {
    timers.release(*due, [&](Timer& timer) noexcept {
      order.emplace_back(due->time_since_epoch().count(), number_of(timer));
    });
  }
  CHECK((order == expected));
}
