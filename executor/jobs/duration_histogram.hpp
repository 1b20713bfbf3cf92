#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <bide/timers/instant.hpp>
#include <bide/timers/log_linear.hpp>

namespace bide {

/// Durations by size: eight buckets for each power of two, so a quantile is at most a sixteenth from the exact one.
///
/// Units: nanoseconds. A negative duration counts as zero.
/// Cost:  add O(1), merge and quantile O(496); about 4 KiB.
class DurationHistogram {
 public:
  void add(Duration duration) {
    const auto nanoseconds =
        duration > Duration::zero() ? static_cast<std::uint64_t>(duration.count()) : std::uint64_t{0};
    ++counts_[Buckets::bucket(nanoseconds)];
    ++count_;
    sum_ += nanoseconds;
    if (nanoseconds > longest_) longest_ = nanoseconds;
  }
  void merge(const DurationHistogram& other);
  void clear() { *this = {}; }

  std::uint64_t count() const { return count_; }
  Duration longest() const { return Duration(static_cast<Duration::rep>(longest_)); }
  /// Exact, rounded down; zero when empty.
  Duration mean() const;
  /// The sum in whole seconds and the nanoseconds beyond: it may exceed what a Duration holds.
  struct Sum {
    std::uint64_t seconds;
    std::uint32_t nanoseconds;
  };
  Sum sum() const;

  /// The middle of the bucket in which the duration of this rank lies, at most the longest; zero when empty.
  /// Requires: per_mille <= 1000.
  Duration quantile(std::uint32_t per_mille) const;

  /// How many lie in buckets that end at `bound` or before. Off by those of the one bucket that `bound` cuts.
  std::uint64_t count_up_to(Duration bound) const;

 private:
  using Buckets = LogLinear<3>;
  __extension__ using Wide = unsigned __int128;

  std::array<std::uint64_t, Buckets::bucket_count> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t longest_ = 0;
  Wide sum_ = 0;
};

}  // namespace bide
