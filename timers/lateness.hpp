#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <bide/timers/instant.hpp>

namespace bide {

/// How late timers fire in real time: counts by size, in buckets whose width is a sixteenth of their size.
///
/// Units: nanoseconds after the instant that was asked for. Early does not happen, and would count as 0.
/// Cost:  add O(1); about 8 KiB.
/// Source: G. Tene, HdrHistogram (the log-linear buckets)
class Lateness {
 public:
  void add(Duration late) {
    const auto nanoseconds = late > Duration::zero() ? static_cast<std::uint64_t>(late.count()) : 0;
    ++counts_[bucket(nanoseconds)];
    ++count_;
    if (nanoseconds > longest_) longest_ = nanoseconds;
  }

  std::uint64_t count() const { return count_; }
  Duration longest() const { return Duration(static_cast<Duration::rep>(longest_)); }

  /// A bound that `per_mille` of a thousand timers kept: the upper end of the bucket, at most the longest. 0 when
  /// none has fired. Requires: per_mille <= 1000.
  Duration at(std::uint32_t per_mille) const;

 private:
  static constexpr unsigned sub_bits = 4;  // 16 buckets for each power of two
  static constexpr std::size_t bucket_count = (64 - sub_bits + 1) << sub_bits;

  static std::size_t bucket(std::uint64_t value);
  static std::uint64_t upper_end(std::size_t bucket);

  std::array<std::uint64_t, bucket_count> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t longest_ = 0;
};

}  // namespace bide
