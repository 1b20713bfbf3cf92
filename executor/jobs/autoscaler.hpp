#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

#include <bide/queue/priority.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// Worker counts in millionths, so that shares of a worker are whole numbers.
using MicroWorkers = std::int64_t;

struct AutoscalerOptions {
  std::uint32_t min_workers = 1;
  std::uint32_t max_workers = 1;
  Duration interval = std::chrono::seconds(5);     // between two decisions
  std::uint32_t target_utilisation = 800;          // per mille of the workers that are to be busy; at least 1
  Duration drain_time = std::chrono::seconds(30);  // in which what is queued is to have been run
  /// In which a job is to start, by class, low first; zero: no goal.
  std::array<Duration, priority_count> wait_goals{};
  Duration reservation_horizon = std::chrono::minutes(1);  // fixed starts so far ahead get their workers
  Duration stabilisation_window =
      std::chrono::minutes(5);                   // no fewer workers than were wanted at any time in it
  Duration cooldown = std::chrono::seconds(30);  // from any change to the next step down
  std::uint32_t max_step_up_ratio = 1000;        // per mille of the present workers
  std::uint32_t max_step_up = 4;                 // a step up is bounded by the larger of the two
  std::uint32_t max_step_down = 1;               // at least 1
  std::uint32_t ewma_alpha = 300;                // per mille, 1 to 1000: the weight of the newest sample
  std::uint64_t cost_per_worker_second = 0;      // in millionths of whatever it is counted in
};

/// What a pool does at the moment of a decision.
struct PoolLoad {
  std::uint32_t workers = 0;
  std::uint32_t busy = 0;
  std::uint32_t reserved = 0;  // the most workers that fixed starts within the horizon hold at once
  std::array<Duration, priority_count> queued_work{};  // estimated durations of what is ready, by class
  std::array<Duration, priority_count> oldest_wait{};  // by class; zero where none waits
};

/// How many workers a pool should have. Pure: reads no clock, and decides by what it is told.
///
/// wanted = slots(max(load + backlog, goals)) + reserved, within the bounds, where
///   load    = the smoothed number of busy workers / target utilisation,
///   backlog = queued work / drain time,
///   goals   = over the classes with a goal, the largest of: queued work of this class and above / time left until the
///             goal of its oldest job (one interval at least).
/// A wish for more is granted up to one step; one for fewer only as far as no more were wanted within the stabilisation
/// window, after the cooldown, and up to one step.
/// Order: the same calls give the same answers; whole numbers throughout.
/// Cost:  O(1) on average; remembers one wish an interval of the window at most.
class Autoscaler {
 public:
  /// What had the last word.
  enum class Rule : std::uint8_t {
    load,
    backlog,
    wait_goal,
    reservation,
    minimum,
    maximum,
    window,
    cooldown,
    step
  };

  struct Decision {
    std::uint32_t workers = 0;  // to have from now on
    std::uint32_t wanted = 0;   // without window, cooldown and steps
    /// Time alone would change nothing: only another load could.
    bool settled = false;
    Rule rule = Rule::load;
  };

  /// Requires: the bounds that the options name, and min_workers <= max_workers.
  explicit Autoscaler(AutoscalerOptions options);

  /// When to call `decide` next; at once at first.
  Instant due() const { return due_; }
  /// Before it is due, the answer is the last one. Requires: `now` does not go back.
  Decision decide(const PoolLoad& load, Instant now);

  /// What the workers told of so far have cost, in millionths; at most 2^64 - 1.
  std::uint64_t cost() const;

 private:
  struct Wish {
    Instant at;
    std::uint32_t workers;
  };

  Decision wanted(const PoolLoad& load) const;
  std::uint32_t highest_wish(Instant now, std::uint32_t workers);
  void charge(std::uint32_t workers, Instant now);

  AutoscalerOptions options_;
  Decision last_;
  Instant due_ = Instant::min();
  Instant sampled_ = Instant::min();
  Instant changed_ = Instant::min();
  bool smoothing_ = false;  // there is a sample in busy_
  MicroWorkers busy_ = 0;
  std::deque<Wish> wishes_;                          // of the window, each lower than the one before it
  __extension__ unsigned __int128 worker_time_ = 0;  // nanoseconds
};

const char* to_string(Autoscaler::Rule rule);

/// Whole workers for a share: below a hundredth none, or an idle pool would keep one as long as its average fades.
constexpr std::uint32_t slots(MicroWorkers share) {
  if (share < 10'000) return 0;
  const MicroWorkers whole = (share - 1) / 1'000'000 + 1;
  return whole > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(whole);
}

/// The exponentially weighted mean after one more sample, rounded towards the mean before it.
constexpr MicroWorkers smoothed(MicroWorkers mean, MicroWorkers sample, std::uint32_t alpha_per_mille) {
  return mean + (sample - mean) * static_cast<MicroWorkers>(alpha_per_mille) / 1000;
}

}  // namespace bide
