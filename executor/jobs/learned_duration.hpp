#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <bide/timers/instant.hpp>
#include <bide/timers/log_linear.hpp>

namespace bide {

/// What the durations seen so far say about the next one: mean, median and 90th percentile, kept as they come.
///
/// Bounds: the first 32 durations are kept as they are, and their ranks are exact. From the 33rd on, a quantile is the
///         middle of a bucket, at most 1/32 from a duration of that rank. At 2,048 every duration seen so far loses
///         half its weight, with ranks off by at most half a duration, so that what is learned follows a change.
/// Units:  nanoseconds, whole ones throughout. A negative duration counts as zero.
/// Cost:   add is O(1) but for one walk over the buckets in a thousand calls; questions are O(1). 2.5 KiB.
class LearnedDuration {
 private:
  using Buckets = LogLinear<4>;

 public:
  /// Below this number a quantile would be one of the durations by chance; the mean stands in for it.
  static constexpr std::uint64_t few = 3;

  /// A duration with its bucket, for whoever adds it to several.
  struct Sample {
    explicit Sample(Duration duration)
        : nanoseconds(std::max(duration, Duration::zero()).count()),
          bucket(Buckets::bucket(static_cast<std::uint64_t>(nanoseconds))) {}
    std::int64_t nanoseconds;
    std::size_t bucket;
  };

  void add(Duration duration) { add(Sample(duration)); }
  void add(const Sample& sample) {
    const auto [nanoseconds, bucket] = sample;
    if (count_ < kept_count) [[unlikely]]
      keep(nanoseconds, bucket);
    else
      mean_ += (nanoseconds - mean_) / 8;
    ++count_;
    if (weights_[bucket]++ == 0) occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
    ++weight_;
    median_.before += bucket < median_.bucket ? 1 : 0;
    p90_.before += bucket < p90_.bucket ? 1 : 0;
    settle(median_, median_rank(weight_));
    settle(p90_, p90_rank(weight_));
    if (weight_ == weight_limit) [[unlikely]]
      halve();
  }

  /// How many were ever added.
  std::uint64_t count() const { return count_; }
  /// Of the first eight the exact mean, but for one nanosecond a step; then a mean that moves an eighth of the way to
  /// each newcomer, and stops less than 8 ns from it. Zero when empty.
  Duration mean() const { return Duration(mean_); }
  /// Of an even number, the lower of the two in the middle. The mean while there are few.
  Duration median() const { return quantile(median_, median_rank(count_)); }
  Duration p90() const { return quantile(p90_, p90_rank(count_)); }

 private:
  static constexpr std::size_t kept_count = 32;
  static constexpr std::uint32_t weight_limit = 2048;

  /// The bucket of a rank, and the weight of all buckets before it.
  struct Mark {
    std::size_t bucket = 0;
    std::uint32_t before = 0;
  };

  // Rounded up.
  static constexpr std::uint64_t median_rank(std::uint64_t of) { return (of + 1) / 2; }
  static constexpr std::uint64_t p90_rank(std::uint64_t of) { return (of * 9 + 9) / 10; }
  Duration quantile(const Mark& mark, std::uint64_t rank) const {
    if (count_ <= kept_count) [[unlikely]]
      return kept_quantile(rank);
    return Duration(static_cast<Duration::rep>(Buckets::middle(mark.bucket)));
  }
  Duration kept_quantile(std::uint64_t rank) const;
  void keep(std::int64_t nanoseconds, std::size_t bucket);
  void settle(Mark& mark, std::uint64_t rank) {
    // One comparison: below what is before the mark, the difference wraps to a great number.
    if (rank - 1 - mark.before >= weights_[mark.bucket]) [[unlikely]]
      move(mark, rank);
  }
  void move(Mark& mark, std::uint64_t rank);
  void halve();
  std::size_t next_occupied(std::size_t bucket) const;
  std::size_t previous_occupied(std::size_t bucket) const;

  std::array<std::int64_t, kept_count> kept_{};  // in ascending order
  std::array<std::uint16_t, Buckets::bucket_count> weights_{};
  std::array<std::uint64_t, (Buckets::bucket_count + 63) / 64>
      occupied_{};  // a bit for each weight that is not 0
  Mark median_;
  Mark p90_;
  std::uint32_t weight_ = 0;
  std::uint64_t count_ = 0;
  std::int64_t mean_ = 0;
};

}  // namespace bide
