#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/tests/random.hpp>
#include <bide/timers/lateness.hpp>

using namespace bide;
using namespace std::chrono_literals;

TEST_CASE("Lateness: nothing fired is zero, and early counts as on time") {
  Lateness lateness;
  CHECK(lateness.count() == 0);
  CHECK(lateness.at(500) == 0ns);
  lateness.add(-5ns);
  CHECK(lateness.count() == 1);
  CHECK(lateness.at(1000) == 0ns);
}

TEST_CASE("Lateness: small values are exact, and one value is itself at every rank") {
  for (const Duration value : {Duration(0), Duration(1), Duration(15), Duration(16), Duration(17),
                               Duration(1'000'003), Duration::max()}) {
    Lateness lateness;
    lateness.add(value);
    for (const std::uint32_t per_mille : {0U, 1U, 500U, 999U, 1000U}) CHECK(lateness.at(per_mille) == value);
    CHECK(lateness.longest() == value);
  }
}

TEST_CASE("Lateness: a rank is at most a sixteenth above the exact one, and never below") {
  test::Random random(7);
  for (int round = 0; round < 50; ++round) {
    Lateness lateness;
    std::vector<std::int64_t> values;
    const std::uint64_t count = 1 + random.below(3000);
    for (std::uint64_t value = 0; value < count; ++value) {
      values.push_back(static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(62))));
      lateness.add(Duration(values.back()));
    }
    std::sort(values.begin(), values.end());
    bool bounded = true;
    for (const std::uint32_t per_mille : {1U, 10U, 500U, 900U, 990U, 999U, 1000U}) {
      const std::uint64_t rank = std::max<std::uint64_t>(1, (count * per_mille + 999) / 1000);
      const std::int64_t exact = values[static_cast<std::size_t>(rank - 1)];
      const std::int64_t told = lateness.at(per_mille).count();
      bounded = bounded && told >= exact && told <= exact + exact / 16;
    }
    CHECK(bounded);
  }
}
