#pragma once

#include <array>
#include <cstdint>

#include <bide/timers/instant.hpp>
#include <bide/timers/log_linear.hpp>

namespace bide {

/// How late timers fire in real time: counts by size, in buckets whose width is a sixteenth of their size.
///
/// Units: nanoseconds after the instant that was asked for. Early does not happen, and would count as 0.
/// Cost:  add O(1); about 8 KiB.
class Lateness {
 public:
  void add(Duration late) {
    const auto nanoseconds = late > Duration::zero() ? static_cast<std::uint64_t>(late.count()) : 0;
    ++counts_[Buckets::bucket(nanoseconds)];
    ++count_;
    if (nanoseconds > longest_) longest_ = nanoseconds;
  }

  std::uint64_t count() const { return count_; }
  Duration longest() const { return Duration(static_cast<Duration::rep>(longest_)); }

  /// A bound that `per_mille` of a thousand timers kept: the upper end of the bucket, at most the longest. 0 when
  /// none has fired. Requires: per_mille <= 1000.
  Duration at(std::uint32_t per_mille) const;

 private:
  using Buckets = LogLinear<4>;

  std::array<std::uint64_t, Buckets::bucket_count> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t longest_ = 0;
};

}  // namespace bide
