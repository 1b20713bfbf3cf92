#include <bide/timers/lateness.hpp>

#include <algorithm>
#include <cstddef>

#include <bide/queue/require.hpp>

namespace bide {

Duration Lateness::at(std::uint32_t per_mille) const {
  require(per_mille <= 1000, "Lateness::at is asked for more than 1000 of a thousand");
  __extension__ using Wide = unsigned __int128;
  const auto rank = static_cast<std::uint64_t>((static_cast<Wide>(count_) * per_mille + 999) / 1000);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < Buckets::bucket_count && count_ > 0; ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank && seen > 0)
      return Duration(static_cast<Duration::rep>(std::min(Buckets::upper_end(bucket), longest_)));
  }
  return Duration::zero();
}

}  // namespace bide
