#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/duration_estimate.hpp>
#include <bide/tests/random.hpp>

using namespace bide;
using namespace std::chrono_literals;
using Source = DurationEstimate::Source;

namespace {

std::int64_t exact(std::vector<std::int64_t> values, std::uint64_t per_mille) {
  std::sort(values.begin(), values.end());
  return values[(values.size() * per_mille + 999) / 1000 - 1];
}

bool near(Duration told, std::int64_t exact, std::int64_t part) {
  return std::abs(told.count() - exact) <= exact / part + 1;
}

DurationEstimates learned(std::string_view kind, std::vector<Duration> durations) {
  DurationEstimates estimates;
  for (const Duration duration : durations) estimates.learn(kind, duration);
  return estimates;
}

}  // namespace

TEST_CASE("LearnedDuration: nothing is zero, a few are their mean, and 32 are exact") {
  LearnedDuration learned;
  CHECK(learned.median() == 0ns);
  learned.add(10s);
  CHECK(learned.median() == 10s);
  learned.add(20s);
  CHECK(learned.median() == 15s);
  CHECK(learned.p90() == 15s);
  learned.add(60s);
  CHECK(learned.median() == 20s);
  CHECK(learned.p90() == 60s);
  CHECK(learned.mean() == 30s);
  test::Random random(3);
  std::vector<std::int64_t> values = {10'000'000'000, 20'000'000'000, 60'000'000'000};
  while (values.size() < 32) {
    values.push_back(static_cast<std::int64_t>(random.below(100'000'000'000)));
    learned.add(Duration(values.back()));
    CHECK(learned.median().count() == exact(values, 500));
    CHECK(learned.p90().count() == exact(values, 900));
  }
}

TEST_CASE("LearnedDuration: up to 2,047 durations, a quantile is at most 1/32 from the exact one") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::Random random(seed);
    LearnedDuration learned;
    std::vector<std::int64_t> values;
    bool bounded = true;
    for (int n = 0; n < 2047; ++n) {
      values.push_back(static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(62))));
      learned.add(Duration(values.back()));
      if (n < 3 || (n % 50 != 0 && n < 2046)) continue;
      bounded = bounded && near(learned.median(), exact(values, 500), 32) &&
                near(learned.p90(), exact(values, 900), 32);
    }
    CHECK(bounded);
  }
}

TEST_CASE("LearnedDuration: later durations count for more, and the extremes stay in range") {
  LearnedDuration learned;
  for (int n = 0; n < 50'000; ++n) learned.add(1s);
  CHECK(near(learned.median(), 1'000'000'000, 32));
  for (int n = 0; n < 2048; ++n) learned.add(10s);
  CHECK(near(learned.median(), 10'000'000'000, 32));
  for (int n = 0; n < 5000; ++n) learned.add(n % 2 == 0 ? Duration::max() : -5ns);
  CHECK(learned.median() >= 0ns);
  CHECK(near(learned.p90(), Duration::max().count(), 32));
  CHECK(learned.count() == 57'048);
}

TEST_CASE("LearnedDuration: one duration again and again is the median, zero and the longest, too") {
  for (const Duration duration : {Duration::zero(), 1ns, Duration(1s), Duration::max()}) {
    LearnedDuration learned;
    for (int n = 0; n < 10'000; ++n) learned.add(duration);
    CHECK(near(learned.median(), duration.count(), 32));
    CHECK(near(learned.p90(), duration.count(), 32));
    CHECK(learned.mean() == duration);
  }
}

TEST_CASE("LearnedDuration: the median stays through many halvings") {
  test::Random random(5);
  LearnedDuration learned;
  std::vector<std::int64_t> last;
  for (int n = 0; n < 100'000; ++n) {
    const auto value = static_cast<std::int64_t>(1'000'000 + random.below(9'000'000));
    learned.add(Duration(value));
    last.push_back(value);
  }
  // Whatever the weights, samples of one distribution have its median: 5.5 ms, to within the spread of 1,024 samples.
  CHECK(learned.median() > 5ms);
  CHECK(learned.median() < 6ms);
  CHECK(learned.p90() > 8500us);
  CHECK(learned.p90() < 9700us);
}

TEST_CASE("DurationEstimates: hint, then median of the kind, mean of a few, the pool, the default") {
  DurationEstimates estimates;
  CHECK(estimates.estimate("a").source == Source::default_duration);
  CHECK(estimates.estimate("a").duration == 1s);
  CHECK(estimates.estimate("a", 120s).duration == 120s);
  CHECK(estimates.estimate("a", 0s).source == Source::default_duration);
  estimates.learn("b", 4s);
  CHECK(estimates.estimate("a").duration == 4s);
  CHECK(estimates.estimate("a").source == Source::pool);
  estimates.learn("a", 10s);
  estimates.learn("a", 20s);
  CHECK(estimates.estimate("a").duration == 15s);
  CHECK(estimates.estimate("a").source == Source::kind_mean);
  estimates.learn("a", 90s);
  CHECK(estimates.estimate("a").duration == 20s);
  CHECK(estimates.estimate("a").source == Source::kind_median);
  CHECK(estimates.estimate("a", 50s).duration == 50s);
  CHECK(estimates.estimate("a", 50s).source == Source::hint);
}

TEST_CASE("DurationEstimates: a hint counts as twice the 90th percentile of a known kind at most") {
  const DurationEstimates estimates = learned("a", {1s, 2s, 3s});
  CHECK(estimates.estimate("a", 6s).duration == 6s);
  CHECK(estimates.estimate("a", 3600s).duration == 6s);
  CHECK(estimates.estimate("a", 3600s).source == Source::capped_hint);
  CHECK(estimates.estimate("new", 3600s).duration == 3600s);
}

TEST_CASE("DurationEstimates: made-up kinds with false hints lose their weight, and honesty brings it back") {
  DurationEstimates estimates;
  estimates.learn("made-up 0", 1s, 3600s);
  CHECK(estimates.estimate("made-up 1", 3600s).duration == 2s);
  CHECK(estimates.estimate("made-up 1", 1h * 24 * 365).duration == 2s * 24 * 365);
  CHECK(estimates.estimate("made-up 1", 10s).duration == 1s);
  CHECK(estimates.estimate("made-up 1", 500ms).duration == 500ms);
  estimates.learn("longest", 0s, Duration::max());
  CHECK(estimates.estimate("made-up 1", Duration::max()).duration <= 2s);
  for (int n = 0; n < 5000; ++n) estimates.learn("honest " + std::to_string(n), 60s, 60s);
  CHECK(estimates.estimate("made-up 1", 90s).duration == 90s);
}

TEST_CASE("DurationEstimates: the kind that has learned nothing for longest is forgotten") {
  DurationEstimates estimates({.max_kinds = 2});
  estimates.learn("a", 1s);
  estimates.learn("b", 2s);
  estimates.learn("a", 1s);
  CHECK(estimates.estimate("b").source == Source::kind_mean);
  estimates.learn("c", 3s);
  CHECK(estimates.kind("b") == nullptr);
  REQUIRE(estimates.kind("a") != nullptr);
  CHECK(estimates.kind("a")->count() == 2);
  CHECK(estimates.kind_count() == 2);
  CHECK(estimates.pool().count() == 4);
}
