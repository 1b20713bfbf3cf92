#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace bide {

/// Buckets for values of any size, each about as wide as a fixed fraction of what it holds: 2^sub_bits buckets for
/// each power of two, and one for each value below that. A bucket is at most value / 2^sub_bits wide.
///
/// Source: G. Tene, HdrHistogram
template <unsigned sub_bits>
struct LogLinear {
  static constexpr std::size_t bucket_count = (64 - sub_bits + 1) << sub_bits;

  // Above the exact ones, the bits behind the leading one choose among the buckets of its power of two.
  static constexpr std::size_t bucket(std::uint64_t value) {
    if (value < (1U << sub_bits)) return static_cast<std::size_t>(value);
    const unsigned power = static_cast<unsigned>(std::bit_width(value)) - 1 - sub_bits;
    return (static_cast<std::size_t>(power) << sub_bits) + static_cast<std::size_t>(value >> power);
  }

  static constexpr std::uint64_t lower_end(std::size_t bucket) {
    if (bucket < (1U << sub_bits)) return bucket;
    const std::size_t power = (bucket >> sub_bits) - 1;
    return (bucket - (power << sub_bits)) << power;
  }

  /// The last value of the bucket.
  static constexpr std::uint64_t upper_end(std::size_t bucket) {
    if (bucket < (1U << sub_bits)) return bucket;
    const std::size_t power = (bucket >> sub_bits) - 1;
    const std::uint64_t lead = bucket - (power << sub_bits);
    return ((lead + 1) << power) - 1;
  }

  /// The value that is nowhere further from the others of its bucket than half the bucket's width.
  static constexpr std::uint64_t middle(std::size_t bucket) {
    return lower_end(bucket) + (upper_end(bucket) - lower_end(bucket)) / 2;
  }
};

}  // namespace bide
