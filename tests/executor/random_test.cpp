#include <array>
#include <cstdint>

#include <catch2/catch.hpp>

#include <bide/executor/random.hpp>

using namespace bide;

TEST_CASE("Random: gives the published sequence of its seed, also at compile time") {
  Random random(1234567);
  CHECK(random.next() == 6457827717110365317U);
  CHECK(random.next() == 3203168211198807973U);
  CHECK(random.next() == 9817491932198370423U);
  static_assert(Random(0).next() == 16294208416658607535U);
}

TEST_CASE("Random: a number below a bound stays below it, and each is as likely") {
  Random random(7);
  std::array<int, 6> counts{};
  for (int n = 0; n < 60'000; ++n) ++counts[random.below(counts.size())];
  for (const int count : counts) {
    CHECK(count > 9'600);
    CHECK(count < 10'400);
  }
  for (int n = 0; n < 100; ++n) CHECK(random.below(1) == 0);
}

// Scaling alone would give each third of these results twice as often as the others.
TEST_CASE("Random: a bound that does not divide 2^64 favours none") {
  Random random(9);
  constexpr std::uint64_t bound = (std::uint64_t{3} << 62U);
  std::array<int, 3> rests{};
  for (int n = 0; n < 30'000; ++n) ++rests[random.below(bound) % 3];
  for (const int count : rests) {
    CHECK(count > 9'600);
    CHECK(count < 10'400);
  }
}
