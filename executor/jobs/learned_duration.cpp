#include <bide/executor/jobs/learned_duration.hpp>

#include <algorithm>
#include <bit>

namespace bide {

Duration LearnedDuration::kept_quantile(std::uint64_t rank) const {
  if (count_ < few) return mean();
  return Duration(kept_[static_cast<std::size_t>(rank) - 1]);
}

void LearnedDuration::keep(std::int64_t nanoseconds, std::size_t bucket) {
  std::int64_t* const end = kept_.data() + count_;
  std::int64_t* const place = std::upper_bound(kept_.data(), end, nanoseconds);
  std::move_backward(place, end, end + 1);
  *place = nanoseconds;
  mean_ += (nanoseconds - mean_) / std::min<std::int64_t>(8, static_cast<std::int64_t>(count_) + 1);
  if (count_ == 0) median_.bucket = p90_.bucket = bucket;
}

// One newcomer moves a rank by one at most, so this passes one occupied bucket at most, and most often none.
void LearnedDuration::move(Mark& mark, std::uint64_t rank) {
  while (mark.before >= rank) {
    mark.bucket = previous_occupied(mark.bucket);
    mark.before -= weights_[mark.bucket];
  }
  while (mark.before + weights_[mark.bucket] < rank) {
    mark.before += weights_[mark.bucket];
    mark.bucket = next_occupied(mark.bucket);
  }
}

// Halves the running sum and not each weight: what is rounded off a bucket goes to the next, and no rank moves by more
// than one half.
void LearnedDuration::halve() {
  std::uint32_t sum = 0;
  for (std::size_t word = 0; word < occupied_.size(); ++word) {
    for (std::uint64_t bits = occupied_[word]; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      std::uint16_t& weight = weights_[word * 64 + bit];
      const std::uint32_t before = sum / 2;
      sum += weight;
      weight = static_cast<std::uint16_t>(sum / 2 - before);
      if (weight == 0) occupied_[word] &= ~(std::uint64_t{1} << bit);
    }
  }
  weight_ = sum / 2;
  for (Mark* mark : {&median_, &p90_}) {
    mark->bucket = weights_[0] != 0 ? 0 : next_occupied(0);
    mark->before = 0;
  }
  settle(median_, median_rank(weight_));
  settle(p90_, p90_rank(weight_));
}

// Requires, here and below: there is one.
std::size_t LearnedDuration::next_occupied(std::size_t bucket) const {
  std::size_t word = (bucket + 1) / 64;
  std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << ((bucket + 1) % 64));
  while (bits == 0) bits = occupied_[++word];
  return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
}

std::size_t LearnedDuration::previous_occupied(std::size_t bucket) const {
  std::size_t word = bucket / 64;
  std::uint64_t bits = occupied_[word] & ((std::uint64_t{1} << (bucket % 64)) - 1);
  while (bits == 0) bits = occupied_[--word];
  return word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(bits));
}

}  // namespace bide
