#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include <bide/queue/urgency.hpp>
#include <bide/tests/random.hpp>
#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using bide::Aging;
using bide::Priority;
using bide::Urgency;
using bide::urgency::Score;
using Time = std::chrono::nanoseconds;

namespace {

struct Sample {
  Time now;
  Score urgency;
};

std::vector<Score> urgencies(Time deadline, Time estimate, const std::vector<Sample>& samples) {
  std::vector<Score> result;
  for (const Sample& sample : samples)
    result.push_back(bide::urgency::urgency(bide::urgency::latest_start(deadline, estimate),
                                            bide::urgency::horizon(estimate), sample.now));
  return result;
}

std::vector<Score> expected(const std::vector<Sample>& samples) {
  std::vector<Score> result;
  for (const Sample& sample : samples) result.push_back(sample.urgency);
  return result;
}

Urgency due(Time deadline, Time estimate, Time waiting_since) {
  return {.latest_start = bide::urgency::latest_start(deadline, estimate),
          .horizon = bide::urgency::horizon(estimate),
          .waiting_since = waiting_since};
}

Score aged_score(Priority priority, const Urgency& moving, Time now) {
  return bide::urgency::score(priority, &moving, now, Aging::on);
}

}  // namespace

TEST_CASE("urgency: rises over the estimate, then a hundred points a second for thirty seconds") {
  const std::vector<Sample> samples = {
      {0s, 0},           {359s, 0},         {360s, 0},         {390s, 1'250'000},
      {400s, 1'666'666}, {420s, 2'500'000}, {450s, 3'750'000}, {479s, 4'958'333},
      {480s, 5'000'000}, {481s, 5'100'000}, {490s, 6'000'000}, {509s, 7'900'000},
      {510s, 8'000'000}, {511s, 8'000'000}, {600s, 8'000'000}, {10000s, 8'000'000}};
  CHECK(urgencies(600s, 120s, samples) == expected(samples));
}

TEST_CASE("urgency: without an estimate one second is taken, and the rise lasts five") {
  const std::vector<Sample> samples = {
      {3593s, 0},         {3594s, 0},         {3595s, 1'000'000}, {3596s, 2'000'000}, {3596500ms, 2'500'000},
      {3598s, 4'000'000}, {3599s, 5'000'000}, {3600s, 5'100'000}, {3609s, 6'000'000}, {3628s, 7'900'000},
      {3629s, 8'000'000}, {3630s, 8'000'000}};
  CHECK(bide::urgency::latest_start(3600s) == 3599s);
  CHECK(urgencies(3600s, bide::urgency::default_estimate, samples) == expected(samples));
}

TEST_CASE("urgency: an estimate of five seconds is its own horizon") {
  const std::vector<Sample> samples = {{0s, 0},         {2500ms, 2'500'000}, {5s, 5'000'000},
                                       {6s, 5'100'000}, {35s, 8'000'000},    {40s, 8'000'000}};
  CHECK(urgencies(10s, 5s, samples) == expected(samples));
}

TEST_CASE("urgency: an estimate of zero starts at the deadline") {
  const std::vector<Sample> samples = {{44s, 0},         {45s, 0},         {46s, 1'000'000},
                                       {50s, 5'000'000}, {51s, 5'100'000}, {80s, 8'000'000}};
  CHECK(urgencies(50s, 0s, samples) == expected(samples));
  CHECK(urgencies(50s, -7s, samples) == expected(samples));
}

TEST_CASE("urgency: work that can't be on time is overdue at once") {
  const std::vector<Sample> samples = {{0s, 6'000'000}, {20s, 8'000'000}};
  CHECK(urgencies(10s, 20s, samples) == expected(samples));
}

TEST_CASE("urgency: without a deadline there is none") {
  for (const Time now : {Time::min(), Time(-1), Time(0), Time(1), Time::max()}) {
    CHECK(bide::urgency::urgency(Urgency::none, 5s, now) == 0);
    CHECK(bide::urgency::score(Priority::high, nullptr, now, Aging::on) == 1'000'000);
  }
  CHECK(bide::urgency::latest_start(Urgency::none, 7s) == Urgency::none);
}

TEST_CASE("urgency: never falls while time passes, and has no step") {
  bide::test::Random random(1);
  std::uint64_t falls = 0;
  std::uint64_t steps = 0;
  for (int round = 0; round < 20000; ++round) {
    const Time start(static_cast<std::int64_t>(random.below(2'000'000'000'000)));
    const Time horizon =
        bide::urgency::horizon(Time(static_cast<std::int64_t>(random.below(8'000'000'000'000))));
    const auto at = [&](Time now) { return bide::urgency::urgency(start, horizon, now); };
    const Time sample(static_cast<std::int64_t>(random.below(10'000'000'000'000)) - 8'000'000'000'000);
    const Time later = sample + Time(static_cast<std::int64_t>(random.below(60'000'000'000)));
    falls += at(later) < at(sample) ? 1 : 0;
    for (const Time knee : {start - horizon, start, start + 30s})
      steps += at(knee) - at(knee - 1ns) > 1 || at(knee + 1ns) - at(knee) > 1 ? 1 : 0;
    steps += at(start) != 5'000'000 || at(start - horizon) != 0 ? 1 : 0;
  }
  CHECK(falls == 0);
  CHECK(steps == 0);
}

TEST_CASE("urgency: a horizon of hours needs products above 64 bits") {
  // 5,000,000 * 18,000e9 does not fit into 64 bits.
  CHECK(bide::urgency::urgency(36000s, 36000s, 18000s) == 2'500'000);
  CHECK(bide::urgency::urgency(36000s, 36000s, 36000s - 1ns) == 4'999'999);
  // The last product of 64 bits and the first above.
  const std::int64_t edge = std::numeric_limits<std::int64_t>::max() / 5'000'000;
  const Time horizon(edge * 2);
  CHECK(bide::urgency::urgency(horizon, horizon, Time(edge)) == 2'500'000);
  CHECK(bide::urgency::urgency(horizon, horizon, Time(edge + 1)) == 2'500'000);
  CHECK(bide::urgency::urgency(horizon, horizon, Time(edge - 1)) == 2'499'999);
}

TEST_CASE("urgency: the ends of the range saturate") {
  using bide::urgency::urgency;
  CHECK(urgency(Time::min(), 5s, Time::max()) == 8'000'000);
  CHECK(urgency(Time::max() - 1ns, 5s, Time::min()) == 0);
  CHECK(urgency(Time::max() - 1ns, Time::max(), Time::min()) == 0);
  CHECK(urgency(Time::max() - 1ns, Time::max(), Time(1)) == 0);
  CHECK(urgency(Time::max() - 1ns, Time::max(), Time::max() - 2ns) == 4'999'999);
  CHECK(urgency(Time::max() - 1ns, Time::max(), Time::max()) == 5'000'000);
  CHECK(urgency(0s, Time::min(), -1ns) == 0);
  CHECK(urgency(0s, Time::min(), 0s) == 5'000'000);

  CHECK(bide::urgency::latest_start(Time::min(), Time::max()) == Time::min());
  CHECK(bide::urgency::latest_start(Time::max() - 1ns, Time::min()) == Time::max() - 1ns);
  CHECK(bide::urgency::horizon(Time::min()) == 5s);
  CHECK(bide::urgency::horizon(Time::max()) == Time::max());

  CHECK(bide::urgency::aging(Time::min()) == 0);
  CHECK(bide::urgency::aging(Time::max()) == 800'000);
  const Urgency moving{.latest_start = Time::min(), .horizon = 5s, .waiting_since = Time::min()};
  CHECK(aged_score(Priority::critical, moving, Time::max()) == 18'800'000);
}

TEST_CASE("aging: two points a second up to eight hundred, the same for every class") {
  struct Row {
    Time wait;
    Score low;
  };
  for (const Row& row : std::vector<Row>{{-1s, 10'000},
                                         {0s, 10'000},
                                         {1s, 12'000},
                                         {45s, 100'000},
                                         {46s, 102'000},
                                         {355s, 720'000},
                                         {399s, 808'000},
                                         {400s, 810'000},
                                         {401s, 810'000},
                                         {1000s, 810'000}}) {
    const Urgency moving{.waiting_since = 7s};
    const auto at = [&](Priority priority) { return aged_score(priority, moving, 7s + row.wait); };
    CHECK(at(Priority::low) == row.low);
    CHECK(at(Priority::normal) == row.low + 90'000);
    CHECK(at(Priority::high) == row.low + 990'000);
    CHECK(at(Priority::critical) == row.low + 9'990'000);
    CHECK(bide::urgency::score(Priority::low, &moving, 7s + row.wait, Aging::off) == 10'000);
  }
}

TEST_CASE("score: nothing below critical reaches it") {
  const Urgency worst{.latest_start = 0s, .horizon = 5s, .waiting_since = 0s};
  CHECK(aged_score(Priority::critical, worst, 9999s) == 18'800'000);
  CHECK(aged_score(Priority::high, worst, 9999s) == 9'800'000);
  CHECK(aged_score(Priority::normal, worst, 9999s) == 8'900'000);
  CHECK(aged_score(Priority::low, worst, 9999s) == 8'810'000);
  CHECK(bide::urgency::ceiling(Priority::high) == 9'800'000);

  bide::test::Random random(2);
  Score most = 0;
  for (int round = 0; round < 100000; ++round) {
    const auto any = [&] { return Time(static_cast<std::int64_t>(random.next())); };
    const Urgency moving{.latest_start = any(), .horizon = any(), .waiting_since = any()};
    most = std::max(most, aged_score(static_cast<Priority>(random.below(3)), moving, any()));
  }
  CHECK(most <= 9'800'000);
}

TEST_CASE("score: aging without its cap is a fixed shift of arrival") {
  const auto seconds_earlier = [](Priority priority) {
    const Score above_normal = bide::urgency::base(priority) - bide::urgency::base(Priority::normal);
    return above_normal / (bide::urgency::aging(2s) - bide::urgency::aging(1s));
  };
  CHECK(seconds_earlier(Priority::critical) == 4950);
  CHECK(seconds_earlier(Priority::high) == 450);
  CHECK(seconds_earlier(Priority::low) == -45);
}

TEST_CASE("score: base, aging and urgency add up") {
  const Urgency moving = due(600s, 120s, 0s);
  const auto at = [&](Time now) { return aged_score(Priority::normal, moving, now); };
  CHECK(at(0s) == 100'000);
  CHECK(at(100s) == 300'000);
  CHECK(at(360s) == 820'000);
  CHECK(at(364'120ms) == 999'906);    // 999.9067
  CHECK(at(364'130ms) == 1'000'343);  // 1000.3433
  CHECK(at(400s) == 2'566'666);       // 7700/3
  CHECK(at(420s) == 3'400'000);
  CHECK(at(480s) == 5'900'000);
  CHECK(at(490s) == 6'900'000);
  CHECK(at(510s) == 8'900'000);
  CHECK(at(600s) == 8'900'000);
  // It passes a fresh high node at 47700/131 s; two terms rounded down come at most two thousandths late.
  CHECK(at(364'122'137'404ns) < 1'000'000);
  CHECK(at(364'122'137'405ns + 46us) >= 1'000'000);
}

TEST_CASE("score: low work with a deadline meets fresh high work") {
  CHECK(aged_score(Priority::low, due(100s, 1s, 94'990ms), 94'990ms) == 1'000'000);
  CHECK(aged_score(Priority::low, due(100s, 1s, 95s), 95s) == 1'010'000);
  const Urgency since_start = due(100s, 1s, 0s);
  CHECK(aged_score(Priority::low, since_start, 94s) == 198'000);
  CHECK(aged_score(Priority::low, since_start, 94'800ms) == 999'600);
  CHECK(aged_score(Priority::low, since_start, 94'810ms) == 1'009'620);
  CHECK(aged_score(Priority::low, since_start, 95s) == 1'200'000);
}

TEST_CASE("score: nearly due high work goes before overdue low work") {
  CHECK(aged_score(Priority::low, due(10s, 1s, 10s), 10s) == 5'110'000);
  CHECK(aged_score(Priority::high, due(11'500ms, 1s, 10s), 10s) == 5'500'000);
}

TEST_CASE("score: an estimate far above the deadline buys at most the cap") {
  CHECK(aged_score(Priority::low, due(1s, 3600s, 0s), 0s) == 8'010'000);
}

TEST_CASE("score: exact ties are ties") {
  struct Side {
    Time wait, horizon, slack;
  };
  struct Tie {
    Side high, normal;
    Score score;
  };
  const Time now = 1000s;
  for (const Tie& tie : std::vector<Tie>{{{0s, 5s, 2s}, {250s, 25s, 8s}, 4'000'000},
                                         {{0s, 5s, 2s}, {300s, 50s, 17s}, 4'000'000},
                                         {{0s, 5s, 3s}, {0s, 50s, 21s}, 3'000'000},
                                         {{0s, 5s, 3s}, {50s, 25s, 11s}, 3'000'000}}) {
    const auto moving = [&](const Side& side) {
      return Urgency{
          .latest_start = now + side.slack, .horizon = side.horizon, .waiting_since = now - side.wait};
    };
    CHECK(aged_score(Priority::high, moving(tie.high), now) == tie.score);
    CHECK(aged_score(Priority::normal, moving(tie.normal), now) == tie.score);
  }
}

TEST_CASE("urgency: is computed while compiling") {
  static_assert(bide::urgency::urgency(480s, 120s, 400s) == 1'666'666);
  static_assert(bide::urgency::urgency(36000s, 36000s, 18000s) == 2'500'000);
  static_assert(bide::subtract_saturating(Time::min(), 1ns) == Time::min());
  static_assert(bide::subtract_saturating(0ns, Time::min()) == Time::max());
  SUCCEED();
}
