#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <bide/tests/random.hpp>
#include <bide/timers/timer_list.hpp>

// A timer may take its place in the order and be armed at it later, or never.

namespace {

using bide::Duration;
using bide::Instant;
using bide::Timer;
using bide::TimerList;

constexpr Instant soon = Instant(Duration(5));
constexpr Instant later = Instant(Duration(6));

/// The timers that one release fires, in its order, by their number.
std::vector<std::size_t> fired(TimerList& timers, const std::deque<Timer>& all) {
  std::vector<std::size_t> numbers;
  timers.release(Instant::max(), [&](Timer& timer) noexcept {
    for (std::size_t number = 0; number < all.size(); ++number) {
      if (&all[number] == &timer) numbers.push_back(number);
    }
  });
  return numbers;
}

using Numbers = std::vector<std::size_t>;

}  // namespace

TEST_CASE("TimerList: a timer fires in the place that was taken for it, whenever it was armed") {
  std::deque<Timer> all(4);
  TimerList timers;
  timers.arm(all[0], soon);
  const std::uint64_t place = timers.take_place();
  timers.arm(all[2], soon);
  timers.arm(all[3], soon);
  timers.arm(all[1], soon, place);
  CHECK(fired(timers, all) == Numbers{0, 1, 2, 3});
}

TEST_CASE("TimerList: places decide among timers of one instant only") {
  std::deque<Timer> all(2);
  TimerList timers;
  const std::uint64_t place = timers.take_place();
  timers.arm(all[1], soon);
  timers.arm(all[0], later, place);
  CHECK(fired(timers, all) == Numbers{1});
  CHECK(fired(timers, all) == Numbers{0});
}

TEST_CASE("TimerList: places that are armed in the reverse order fire as they were taken") {
  std::deque<Timer> all(3);
  TimerList timers;
  std::vector<std::uint64_t> places;
  for (std::size_t number = 0; number < all.size(); ++number) places.push_back(timers.take_place());
  for (std::size_t number = all.size(); number-- > 0;) timers.arm(all[number], soon, places[number]);
  CHECK(fired(timers, all) == Numbers{0, 1, 2});
}

TEST_CASE("TimerList: a place that is never armed leaves nothing behind, and can't be seen") {
  std::deque<Timer> all(2);
  TimerList timers;
  timers.arm(all[0], soon);
  static_cast<void>(timers.take_place());
  timers.arm(all[1], soon);
  CHECK(timers.size() == 2);
  CHECK(fired(timers, all) == Numbers{0, 1});
  CHECK(timers.empty());
}

TEST_CASE("TimerList: a place stays good after a release, a clear and a cancel") {
  std::deque<Timer> all(3);
  TimerList timers;
  const std::uint64_t place = timers.take_place();
  timers.arm(all[0], soon);
  CHECK(fired(timers, all) == Numbers{0});
  timers.arm(all[1], later);
  timers.clear();
  timers.arm(all[1], later);
  timers.arm(all[2], later, place);
  timers.cancel(all[2]);
  timers.arm(all[2], later);  // armed anew it is behind
  CHECK(fired(timers, all) == Numbers{1, 2});
}

TEST_CASE("TimerList: a place that is taken inside a release is behind all that were armed before") {
  std::deque<Timer> all(3);
  TimerList timers;
  std::uint64_t place = 0;
  timers.arm(all[0], soon);
  timers.arm(all[1], later);
  timers.release(soon, [&](Timer&) noexcept { place = timers.take_place(); });
  timers.arm(all[0], later);
  timers.arm(all[2], later, place);
  CHECK(fired(timers, all) == Numbers{1, 2, 0});
}

TEST_CASE("TimerList: a thousand places armed in any order fire as they were taken") {
  bide::test::Random random(8);
  std::deque<Timer> all(1'000);
  TimerList timers;
  struct Taken {
    std::size_t number;
    std::uint64_t place;
  };
  std::vector<Taken> to_arm;
  for (std::size_t number = 0; number < all.size(); ++number) to_arm.push_back({number, timers.take_place()});
  for (std::size_t left = to_arm.size(); left > 0; --left) {
    std::swap(to_arm[random.below(left)], to_arm[left - 1]);
    timers.arm(all[to_arm[left - 1].number], soon, to_arm[left - 1].place);
  }
  const Numbers order = fired(timers, all);
  CHECK(order.size() == all.size());
  CHECK(std::is_sorted(order.begin(), order.end()));
}
