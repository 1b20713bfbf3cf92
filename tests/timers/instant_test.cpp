#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <bide/timers/clock.hpp>
#include <bide/timers/instant.hpp>

namespace {

using namespace std::chrono_literals;
using bide::add_saturating;
using bide::Duration;
using bide::Instant;
using bide::subtract_saturating;

constexpr Instant start{};
constexpr Duration longest = Duration::max();
constexpr Duration shortest = Duration::min();
constexpr Duration one{1};

constexpr Instant after_start(Duration since_start) { return Instant(since_start); }

struct Sum {
  Instant now;
  Duration span;
  Instant expected;
};

}  // namespace

TEST_CASE("add_saturating: from the start every span that is not negative is exact") {
  for (const Duration span : {0ns, 1ns, longest / 10, longest / 2, longest - 1s, longest - one, longest}) {
    CHECK(add_saturating(start, span).time_since_epoch() == span);
  }
  CHECK(add_saturating(start, -one) == after_start(-one));
  CHECK(add_saturating(start, shortest) == Instant::min());
}

TEST_CASE("add_saturating: a sum beyond the last instant is the last instant") {
  for (const Instant now : {after_start(1s), after_start(longest / 2), Instant::max() - 5ns,
                            Instant::max() - one, Instant::max()}) {
    const Duration room = Instant::max() - now;
    const Sum sums[] = {
        {now, 0ns, now},
        {now, -one, now - one},
        {now, room, Instant::max()},
        {now, longest, Instant::max()},
        {now, longest - one, Instant::max()},
        {now, longest - 1s, longest - 1s > room ? Instant::max() : now + (longest - 1s)},
        {now, longest / 2, longest / 2 > room ? Instant::max() : now + longest / 2},
        {now, shortest, now + shortest},
    };
    for (const Sum& sum : sums) CHECK(add_saturating(sum.now, sum.span) == sum.expected);
    if (room > 0ns) CHECK(add_saturating(now, room - one) == Instant::max() - one);
    if (room < longest) CHECK(add_saturating(now, room + one) == Instant::max());
  }
}

TEST_CASE("add_saturating: a sum before the first instant is the first instant") {
  CHECK(add_saturating(Instant::min(), -one) == Instant::min());
  CHECK(add_saturating(Instant::min(), shortest) == Instant::min());
  CHECK(add_saturating(after_start(-one), shortest) == Instant::min());
  CHECK(add_saturating(after_start(-1s), shortest + 1s) == Instant::min());
  CHECK(add_saturating(after_start(-1s), shortest + 1s + one) == Instant::min() + one);
  CHECK(add_saturating(Instant::min(), longest) == after_start(-one));
}

TEST_CASE("add_saturating: a longer span never ends earlier") {
  const Duration spans[] = {shortest, shortest + one, shortest / 2, -1s,          -one,          0ns,
                            one,      longest / 10,   longest / 2,  longest - 1s, longest - one, longest};
  for (const Duration now : spans) {
    for (std::size_t i = 1; i != std::size(spans); ++i) {
      CHECK(add_saturating(after_start(now), spans[i - 1]) <= add_saturating(after_start(now), spans[i]));
    }
  }
}

TEST_CASE("subtract_saturating: exact where the difference exists, its bound where not") {
  CHECK(subtract_saturating(after_start(7s), after_start(5s)) == 2s);
  CHECK(subtract_saturating(after_start(5s), after_start(7s)) == -2s);
  CHECK(subtract_saturating(Instant::max(), start) == longest);
  CHECK(subtract_saturating(Instant::max(), after_start(one)) == longest - one);
  CHECK(subtract_saturating(Instant::max(), after_start(-one)) == longest);
  CHECK(subtract_saturating(Instant::max(), Instant::min()) == longest);
  CHECK(subtract_saturating(Instant::min(), start) == shortest);
  CHECK(subtract_saturating(Instant::min(), after_start(one)) == shortest);
  CHECK(subtract_saturating(Instant::min(), Instant::max()) == shortest);
  CHECK(subtract_saturating(after_start(-one), Instant::max()) == shortest);
  CHECK(subtract_saturating(after_start(-one), Instant::min()) == longest);
  CHECK(subtract_saturating(Instant::min(), Instant::min()) == 0ns);
  CHECK(subtract_saturating(Instant::max(), Instant::max()) == 0ns);
}

TEST_CASE("Instant: counts whole nanoseconds in 64 bits, on a steady clock") {
  STATIC_REQUIRE(std::is_same_v<Instant::rep, std::int64_t>);
  STATIC_REQUIRE(std::is_same_v<Instant::period, std::nano>);
  STATIC_REQUIRE(bide::ExecutorClock::is_steady);
  STATIC_REQUIRE(add_saturating(Instant::max(), one) == Instant::max());
  STATIC_REQUIRE(subtract_saturating(Instant::max(), Instant::min()) == longest);
}

TEST_CASE("RealClock: reads CLOCK_MONOTONIC") {
  bide::RealClock real;
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  const auto reading = real.now().time_since_epoch();
  const auto after = std::chrono::steady_clock::now().time_since_epoch();
  CHECK(before <= reading);
  CHECK(reading <= after);
}
