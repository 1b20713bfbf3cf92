#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/backoff.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

RetryPolicy policy(Duration initial, RetryPolicy::Ratio multiplier, Duration longest) {
  RetryPolicy policy;
  policy.initial_backoff = initial;
  policy.multiplier = multiplier;
  policy.max_backoff = longest;
  policy.jitter = RetryPolicy::Jitter::none;
  return policy;
}

std::vector<std::int64_t> milliseconds(const RetryPolicy& policy, std::uint32_t count) {
  std::vector<std::int64_t> backoffs;
  for (std::uint32_t attempt = 2; attempt < 2 + count; ++attempt)
    backoffs.push_back(backoff(policy, attempt) / 1ms);
  return backoffs;
}

using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("backoff: grows by the ratio from the second attempt on, up to the longest") {
  CHECK(milliseconds(policy(500ms, {2, 1}, 30s), 9) ==
        Numbers{500, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000, 30'000});
  CHECK(milliseconds(policy(100ms, {3, 1}, 10s), 7) == Numbers{100, 300, 900, 2700, 8100, 10'000, 10'000});
  CHECK(milliseconds(policy(100ms, {3, 2}, 1s), 4) == Numbers{100, 150, 225, 337});
}

TEST_CASE("backoff: odd policies give a duration from zero to the longest") {
  CHECK(backoff(policy(500ms, {2, 1}, 30s), 0) == 500ms);
  CHECK(backoff(policy(-1s, {2, 1}, 30s), 5) == 0ns);
  CHECK(backoff(policy(1s, {2, 1}, -5s), 5) == 0ns);
  CHECK(backoff(policy(5s, {2, 1}, 2s), 2) == 2s);
  CHECK(backoff(policy(1s, {1, 2}, 30s), 50) == 1s);
  CHECK(backoff(policy(1s, {1, 0}, 30s), 50) == 1s);
  CHECK(backoff(policy(5ns, {1001, 1000}, 30s), 4'000'000'000) == 5ns);
  CHECK(backoff(policy(1ns, {4'294'967'295, 1}, Duration::max()), 9) == Duration::max());
}

TEST_CASE("retry_delay: full jitter draws from all of the backoff, the same for a seed") {
  RetryPolicy jittered = policy(1s, {2, 1}, 30s);
  jittered.jitter = RetryPolicy::Jitter::full;
  Random random(1);
  Random again(1);
  Duration shortest = Duration::max();
  Duration longest{};
  Duration sum{};
  for (int n = 0; n < 2000; ++n) {
    const Duration delay = retry_delay(jittered, 3, 0s, random);
    CHECK(delay == retry_delay(jittered, 3, 0s, again));
    shortest = std::min(shortest, delay);
    longest = std::max(longest, delay);
    sum += delay;
  }
  CHECK(shortest >= 0ns);
  CHECK(shortest < 20ms);
  CHECK(longest > 1980ms);
  CHECK(longest <= 2s);
  CHECK(sum / 2000 > 950ms);
  CHECK(sum / 2000 < 1050ms);
  jittered.initial_backoff = 0s;
  CHECK(retry_delay(jittered, 2, 0s, random) == 0ns);
}

TEST_CASE("retry_delay: what the failed attempt asked for is the least") {
  Random random(1);
  CHECK(retry_delay(policy(2s, {2, 1}, 30s), 2, 5s, random) == 5s);
  CHECK(retry_delay(policy(8s, {2, 1}, 30s), 2, 5s, random) == 8s);
  CHECK(retry_delay(policy(8s, {2, 1}, 30s), 2, 1h, random) == 1h);
  RetryPolicy jittered = policy(8s, {2, 1}, 30s);
  jittered.jitter = RetryPolicy::Jitter::full;
  for (int n = 0; n < 100; ++n) CHECK(retry_delay(jittered, 2, 5s, random) >= 5s);
}
