#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/duration_histogram.hpp>
#include <bide/tests/random.hpp>

using namespace bide;
using namespace std::chrono_literals;

TEST_CASE("DurationHistogram: empty is zero, and one duration is itself or the middle below it") {
  DurationHistogram histogram;
  CHECK(histogram.quantile(500) == 0ns);
  CHECK(histogram.mean() == 0ns);
  histogram.add(-3s);
  CHECK(histogram.count() == 1);
  CHECK(histogram.longest() == 0ns);
  histogram.clear();
  histogram.add(7ns);
  CHECK(histogram.quantile(0) == 7ns);
  CHECK(histogram.quantile(1000) == 7ns);
}

TEST_CASE("DurationHistogram: a quantile is at most a sixteenth from the exact one") {
  test::Random random(11);
  for (int round = 0; round < 50; ++round) {
    DurationHistogram whole;
    DurationHistogram half;
    std::vector<std::int64_t> values;
    const std::uint64_t count = 1 + random.below(2000);
    for (std::uint64_t n = 0; n < count; ++n) {
      values.push_back(static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(63))));
      (n % 2 == 0 ? whole : half).add(Duration(values.back()));
    }
    whole.merge(half);
    std::sort(values.begin(), values.end());
    CHECK(whole.count() == count);
    CHECK(whole.longest().count() == values.back());
    bool bounded = true;
    for (const std::uint32_t per_mille : {1U, 100U, 500U, 900U, 999U, 1000U}) {
      const std::int64_t exact = values[std::max<std::uint64_t>(1, (count * per_mille + 999) / 1000) - 1];
      bounded = bounded && std::abs(whole.quantile(per_mille).count() - exact) <= exact / 16;
    }
    CHECK(bounded);
  }
}

TEST_CASE("DurationHistogram: mean and sum are exact, beyond what a Duration holds") {
  DurationHistogram histogram;
  for (const Duration duration : {1ns, 2ns, 4ns}) histogram.add(duration);
  CHECK(histogram.mean() == 2ns);
  for (int n = 0; n < 5; ++n) histogram.add(Duration::max());
  CHECK(histogram.sum().seconds == 46'116'860'184U);
  CHECK(histogram.sum().nanoseconds == 273'879'042U);
  CHECK(histogram.mean() == Duration(5'764'607'523'034'234'880));
}

TEST_CASE("DurationHistogram: counts up to a bound are those of whole buckets") {
  DurationHistogram histogram;
  for (int n = 0; n < 16; ++n) histogram.add(Duration(n));
  CHECK(histogram.count_up_to(-1ns) == 0);
  CHECK(histogram.count_up_to(0ns) == 1);
  CHECK(histogram.count_up_to(7ns) == 8);
  CHECK(histogram.count_up_to(1s) == 16);
  CHECK(histogram.count_up_to(Duration::max()) == 16);
}
