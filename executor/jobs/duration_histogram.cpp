#include <bide/executor/jobs/duration_histogram.hpp>

#include <algorithm>

#include <bide/queue/require.hpp>

namespace bide {

namespace {
constexpr std::uint64_t nanoseconds_a_second = 1'000'000'000;
}

void DurationHistogram::merge(const DurationHistogram& other) {
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) counts_[bucket] += other.counts_[bucket];
  count_ += other.count_;
  sum_ += other.sum_;
  longest_ = std::max(longest_, other.longest_);
}

Duration DurationHistogram::mean() const {
  if (count_ == 0) return Duration::zero();
  return Duration(static_cast<Duration::rep>(sum_ / count_));
}

DurationHistogram::Sum DurationHistogram::sum() const {
  return {.seconds = static_cast<std::uint64_t>(sum_ / nanoseconds_a_second),
          .nanoseconds = static_cast<std::uint32_t>(sum_ % nanoseconds_a_second)};
}

Duration DurationHistogram::quantile(std::uint32_t per_mille) const {
  require(per_mille <= 1000, "DurationHistogram::quantile is asked for more than 1000 of a thousand");
  if (count_ == 0) return Duration::zero();
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>((static_cast<Wide>(count_) * per_mille + 999) / 1000));
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while ((seen += counts_[bucket]) < rank) ++bucket;
  return Duration(static_cast<Duration::rep>(std::min(Buckets::middle(bucket), longest_)));
}

std::uint64_t DurationHistogram::count_up_to(Duration bound) const {
  if (bound < Duration::zero()) return 0;
  const auto last = static_cast<std::uint64_t>(bound.count());
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size() && Buckets::upper_end(bucket) <= last; ++bucket)
    seen += counts_[bucket];
  return seen;
}

}  // namespace bide
