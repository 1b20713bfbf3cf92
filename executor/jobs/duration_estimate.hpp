#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <bide/executor/jobs/learned_duration.hpp>
#include <bide/executor/jobs/same_name.hpp>

namespace bide {

/// How long a job will take, as far as its pool can tell, and what that rests on.
struct DurationEstimate {
  enum class Source : std::uint8_t {
    hint,              // the job's own word
    capped_hint,       // the job's word, cut to what was learned
    kind_median,       // of the jobs of its kind, once there are three
    kind_mean,         // of one or two
    pool,              // of all jobs of the pool: nothing is known of the kind
    default_duration,  // nothing is known at all
  };

  Duration duration;
  Source source;
};

const char* to_string(DurationEstimate::Source source);

/// What the jobs of one pool have taken, by kind.
///
/// A hint goes before what was learned, but it buys urgency: the longer a job says it takes, the sooner it must start.
/// So a hint is bounded by what was learned:
///   1. of a kind with three durations or more, a hint counts as twice the kind's 90th percentile at most;
///   2. of other kinds, hints are taken at their word until they proved false: once the hints given for kinds not yet
///      known sum up to more than twice what those jobs took, each counts by that much less, and as the default
///      duration at least (or as itself if it is shorter). Both sums lose half their weight every 64 jobs, so that
///      trust comes back.
///
/// Order: the same calls give the same estimates. The kind that has learned nothing for longest is forgotten when
///        there is one too many.
/// Cost:  one lookup by name; no allocation for a kind that is known. 2.6 KiB a kind.
class DurationEstimates {
 public:
  struct Options {
    Duration default_duration = std::chrono::seconds(1);
    std::size_t max_kinds = 256;  // at least 1
  };

  DurationEstimates() : DurationEstimates(Options{}) {}
  explicit DurationEstimates(Options options);

  /// A job of the kind ran for `used` and ended by itself; `hint` is what it had said, if anything.
  void learn(std::string_view kind, Duration used, std::optional<Duration> hint = {});

  /// A hint of zero and less is none.
  DurationEstimate estimate(std::string_view kind, std::optional<Duration> hint = {}) const {
    if (!hint && learned_last(kind)) [[likely]] {
      const LearnedDuration& learned = kinds_.front().learned;
      if (learned.count() >= LearnedDuration::few) [[likely]]
        return {learned.median(), DurationEstimate::Source::kind_median};
    }
    return estimate_with_care(kind, hint);
  }

  /// Null where nothing is known of the kind. Valid until the next `learn`.
  const LearnedDuration* kind(std::string_view name) const {
    return learned_last(name) ? &kinds_.front().learned : find(name);
  }
  const LearnedDuration& pool() const { return pool_; }
  std::size_t kind_count() const { return kinds_.size(); }

 private:
  struct Kind {
    std::string name;
    LearnedDuration learned;
  };
  using Kinds = std::list<Kind>;  // the one that learned last is first

  // Jobs of one kind come in a row: the one that learned last is asked first, without a hash.
  bool learned_last(std::string_view name) const {
    return !kinds_.empty() && same_name(kinds_.front().name, name);
  }
  DurationEstimate estimate_with_care(std::string_view kind, std::optional<Duration> hint) const;
  const LearnedDuration* find(std::string_view name) const;
  LearnedDuration& touch(std::string_view name);
  void note_hint(Duration hint, Duration used);
  Duration trusted(Duration hint) const;

  Options options_;
  Kinds kinds_;
  std::unordered_map<std::string_view, Kinds::iterator> by_name_;  // names live in kinds_; never iterated
  LearnedDuration pool_;
  __extension__ using Wide = __int128;
  Wide hinted_ = 0;  // sums over jobs of kinds that were unknown when they ended
  Wide used_ = 0;
  std::uint32_t hint_count_ = 0;
};

}  // namespace bide
