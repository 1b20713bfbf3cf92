#include <bide/executor/jobs/backoff.hpp>

#include <algorithm>

namespace bide {

Duration backoff(const RetryPolicy& policy, std::uint32_t next_attempt) {
  const std::int64_t longest = std::max<std::int64_t>(policy.max_backoff.count(), 0);
  const auto [numerator, denominator] = policy.multiplier;
  std::int64_t backoff = std::clamp<std::int64_t>(policy.initial_backoff.count(), 0, longest);
  if (numerator <= denominator || denominator == 0) return Duration(backoff);
  __extension__ using Wide = __int128;
  for (std::uint32_t attempt = 2; attempt < next_attempt && backoff < longest; ++attempt) {
    const Wide next = Wide{backoff} * numerator / denominator;
    if (next == backoff) break;  // a few nanoseconds times little more than one: they stay
    backoff = static_cast<std::int64_t>(std::min<Wide>(next, longest));
  }
  return Duration(backoff);
}

Duration retry_delay(const RetryPolicy& policy, std::uint32_t next_attempt, Duration retry_after,
                     Random& random) {
  Duration delay = backoff(policy, next_attempt);
  if (policy.jitter == RetryPolicy::Jitter::full)
    delay = Duration(static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(delay.count()) + 1)));
  return std::max(delay, retry_after);
}

}  // namespace bide
