#include <bide/executor/jobs/duration_estimate.hpp>

#include <algorithm>

#include <bide/queue/require.hpp>

namespace bide {

namespace {

// Hints up to this many times what was learned are honest.
constexpr int tolerated = 2;
constexpr std::uint32_t hints_remembered = 64;

Duration doubled(Duration duration) {
  return duration > Duration::max() / tolerated ? Duration::max() : duration * tolerated;
}

}  // namespace

const char* to_string(DurationEstimate::Source source) {
  constexpr const char* names[] = {"hint",     "capped hint", "median of the kind", "mean of the kind",
                                   "the pool", "the default"};
  return names[static_cast<std::size_t>(source)];
}

DurationEstimates::DurationEstimates(Options options) : options_(options) {
  require(options.max_kinds > 0, "DurationEstimates needs room for one kind");
  by_name_.reserve(options.max_kinds + 1);
}

void DurationEstimates::learn(std::string_view kind, Duration used, std::optional<Duration> hint) {
  LearnedDuration& learned = learned_last(kind) ? kinds_.front().learned : touch(kind);
  if (hint && *hint > Duration::zero() && learned.count() < LearnedDuration::few) note_hint(*hint, used);
  const LearnedDuration::Sample sample(used);
  learned.add(sample);
  pool_.add(sample);
}

DurationEstimate DurationEstimates::estimate_with_care(std::string_view kind,
                                                       std::optional<Duration> hint) const {
  using Source = DurationEstimate::Source;
  const LearnedDuration* const learned = this->kind(kind);
  const bool known = learned != nullptr && learned->count() >= LearnedDuration::few;
  if (hint && *hint > Duration::zero()) {
    const Duration most = known ? doubled(learned->p90()) : trusted(*hint);
    if (*hint <= most) return {*hint, Source::hint};
    return {most, Source::capped_hint};
  }
  if (known) return {learned->median(), Source::kind_median};
  if (learned != nullptr) return {learned->mean(), Source::kind_mean};
  if (pool_.count() > 0) return {pool_.median(), Source::pool};
  return {options_.default_duration, Source::default_duration};
}

const LearnedDuration* DurationEstimates::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second->learned;
}

/// Puts it first.
LearnedDuration& DurationEstimates::touch(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    kinds_.splice(kinds_.begin(), kinds_, found->second);
    return kinds_.front().learned;
  }
  kinds_.push_front({.name = std::string(name), .learned = {}});
  by_name_.emplace(kinds_.front().name, kinds_.begin());
  if (kinds_.size() > options_.max_kinds) {
    by_name_.erase(kinds_.back().name);
    kinds_.pop_back();
  }
  return kinds_.front().learned;
}

void DurationEstimates::note_hint(Duration hint, Duration used) {
  hinted_ += hint.count();
  used_ += std::max(used, Duration::zero()).count();
  if (++hint_count_ < hints_remembered) return;
  hint_count_ = 0;
  hinted_ /= 2;
  used_ /= 2;
}

// Falls off from the hint itself by the factor that hints were too long: an even longer hint has no more weight.
Duration DurationEstimates::trusted(Duration hint) const {
  if (hinted_ <= tolerated * used_) return hint;
  // Both sums fit 70 bits; a hint of 63 bits leaves no room for the product unless they are cut alike.
  Wide hinted = hinted_;
  Wide used = used_;
  while (hinted > (Wide{1} << 60)) {
    hinted /= 2;
    used /= 2;
  }
  const auto scaled = Duration(static_cast<Duration::rep>(hint.count() * (tolerated * used) / hinted));
  return std::max(scaled, std::min(hint, options_.default_duration));
}

}  // namespace bide
