#include <bide/timers/lateness.hpp>

#include <algorithm>
#include <bit>

#include <bide/queue/require.hpp>

namespace bide {

// Values below 16 have a bucket each; above, the four bits behind the leading one choose among the 16 of its power.
std::size_t Lateness::bucket(std::uint64_t value) {
  if (value < (1U << sub_bits)) return static_cast<std::size_t>(value);
  const unsigned power = static_cast<unsigned>(std::bit_width(value)) - 1 - sub_bits;
  return (static_cast<std::size_t>(power) << sub_bits) + static_cast<std::size_t>(value >> power);
}

std::uint64_t Lateness::upper_end(std::size_t bucket) {
  if (bucket < (1U << sub_bits)) return bucket;
  const std::size_t power = (bucket >> sub_bits) - 1;
  const std::uint64_t lead = bucket - (power << sub_bits);
  return ((lead + 1) << power) - 1;
}

Duration Lateness::at(std::uint32_t per_mille) const {
  require(per_mille <= 1000, "Lateness::at is asked for more than 1000 of a thousand");
  __extension__ using Wide = unsigned __int128;
  const auto rank = static_cast<std::uint64_t>((static_cast<Wide>(count_) * per_mille + 999) / 1000);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < bucket_count && count_ > 0; ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank && seen > 0)
      return Duration(static_cast<Duration::rep>(std::min(upper_end(bucket), longest_)));
  }
  return Duration::zero();
}

}  // namespace bide
