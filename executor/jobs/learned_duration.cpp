#include <bide/executor/jobs/learned_duration.hpp>

#include <algorithm>
#include <bit>

namespace bide {

void LearnedDuration::add(Duration duration) {
  const std::int64_t nanoseconds = std::max(duration, Duration::zero()).count();
  if (count_ < kept_count) keep(nanoseconds);
  ++count_;
  // The constant divisor is a shift, and the other one is rare.
  mean_ +=
      count_ >= 8 ? (nanoseconds - mean_) / 8 : (nanoseconds - mean_) / static_cast<std::int64_t>(count_);

  const std::size_t bucket = Buckets::bucket(static_cast<std::uint64_t>(nanoseconds));
  ++weights_[bucket];
  ++weight_;
  occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
  for (Mark* mark : {&median_, &p90_}) {
    if (count_ == 1) mark->bucket = bucket;
    if (bucket < mark->bucket) ++mark->before;
    settle(*mark);
  }
  if (weight_ == weight_limit) halve();
}

std::uint64_t LearnedDuration::rank(const Mark& mark, std::uint64_t of) const {
  return (of * mark.per_mille + 999) / 1000;
}

Duration LearnedDuration::quantile(const Mark& mark) const {
  if (count_ < few) return mean();
  if (count_ <= kept_count) return Duration(kept_[static_cast<std::size_t>(rank(mark, count_)) - 1]);
  return Duration(static_cast<Duration::rep>(Buckets::middle(mark.bucket)));
}

void LearnedDuration::keep(std::int64_t nanoseconds) {
  std::int64_t* const end = kept_.data() + count_;
  std::int64_t* const place = std::upper_bound(kept_.data(), end, nanoseconds);
  std::move_backward(place, end, end + 1);
  *place = nanoseconds;
}

// One newcomer moves a rank by one at most, so this passes one occupied bucket at most.
void LearnedDuration::settle(Mark& mark) {
  const std::uint64_t wanted = rank(mark, weight_);
  while (mark.before >= wanted) {
    mark.bucket = previous_occupied(mark.bucket);
    mark.before -= weights_[mark.bucket];
  }
  while (mark.before + weights_[mark.bucket] < wanted) {
    mark.before += weights_[mark.bucket];
    mark.bucket = next_occupied(mark.bucket);
  }
}

// Halves the running sum and not each weight: what is rounded off a bucket goes to the next, and no rank moves by more
// than one half.
void LearnedDuration::halve() {
  std::uint32_t sum = 0;
  for (std::size_t bucket = 0; bucket < weights_.size(); ++bucket) {
    const std::uint32_t before = sum / 2;
    sum += weights_[bucket];
    weights_[bucket] = static_cast<std::uint16_t>(sum / 2 - before);
    if (weights_[bucket] == 0) occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
  }
  weight_ = sum / 2;
  for (Mark* mark : {&median_, &p90_}) {
    mark->bucket = weights_[0] != 0 ? 0 : next_occupied(0);
    mark->before = 0;
    settle(*mark);
  }
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
