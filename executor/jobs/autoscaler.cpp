#include <bide/executor/jobs/autoscaler.hpp>

#include <algorithm>

#include <bide/queue/require.hpp>

namespace bide {

namespace {

constexpr MicroWorkers one = 1'000'000;
// More than any pool has, and far enough from overflow to be added up.
constexpr MicroWorkers most = MicroWorkers{UINT32_MAX} * one;

/// How many workers do `work` within `time`.
MicroWorkers share(Duration work, Duration time) {
  if (work <= Duration::zero()) return 0;
  if (time <= Duration::zero()) return most;
  __extension__ using Wide = __int128;
  return static_cast<MicroWorkers>(std::min<Wide>(Wide{work.count()} * one / time.count(), most));
}

Duration plus(Duration left, Duration right) {
  return left > Duration::max() - right ? Duration::max() : left + right;
}

Duration sum(const std::array<Duration, priority_count>& durations) {
  Duration sum{};
  for (const Duration duration : durations) sum = plus(sum, std::max(duration, Duration::zero()));
  return sum;
}

Autoscaler::Decision decided(std::uint32_t workers, Autoscaler::Rule rule) {
  return {.workers = workers, .wanted = workers, .rule = rule};
}

MicroWorkers for_goals(const PoolLoad& load, const AutoscalerOptions& options) {
  MicroWorkers needed = 0;
  Duration work{};
  for (std::size_t priority = priority_count; priority-- > 0;) {
    work = plus(work, std::max(load.queued_work[priority], Duration::zero()));
    const Duration goal = options.wait_goals[priority];
    if (goal <= Duration::zero() || load.queued_work[priority] <= Duration::zero()) continue;
    const Duration left = subtract_saturating(goal, load.oldest_wait[priority]);
    needed = std::max(needed, share(work, std::max(left, options.interval)));
  }
  return needed;
}

}  // namespace

const char* to_string(Autoscaler::Rule rule) {
  constexpr const char* names[] = {"load",    "backlog", "wait goal", "reservation", "minimum",
                                   "maximum", "window",  "cooldown",  "step"};
  return names[static_cast<std::size_t>(rule)];
}

Autoscaler::Autoscaler(AutoscalerOptions options) : options_(options) {
  require(options.min_workers <= options.max_workers, "Autoscaler: min_workers is above max_workers");
  require(options.interval > Duration::zero(), "Autoscaler: the interval has to be above zero");
  require(options.target_utilisation > 0, "Autoscaler: a target utilisation of zero wants endless workers");
  require(options.ewma_alpha >= 1 && options.ewma_alpha <= 1000,
          "Autoscaler: ewma_alpha is not in 1 to 1000");
  require(options.max_step_down > 0, "Autoscaler: with max_step_down 0 it never scales down");
}

Autoscaler::Decision Autoscaler::decide(const PoolLoad& load, Instant now) {
  if (now < due_) return last_;
  due_ = add_saturating(now, options_.interval);
  charge(load.workers, now);
  const MicroWorkers sample = MicroWorkers{load.busy} * one;
  busy_ = smoothing_ ? smoothed(busy_, sample, options_.ewma_alpha) : sample;
  smoothing_ = true;

  Decision decision = wanted(load);
  const std::uint32_t highest = highest_wish(now, decision.wanted);
  const auto decide_on = [&](std::uint32_t workers, Rule rule) {
    decision.workers = workers;
    decision.rule = rule;
  };
  if (decision.workers > load.workers) {
    const std::uint64_t ratio = std::uint64_t{load.workers} * options_.max_step_up_ratio / 1000;
    const std::uint64_t step = std::max<std::uint64_t>(ratio, options_.max_step_up);
    // Below the minimum there is no reason to go slowly.
    const std::uint64_t reach = std::max<std::uint64_t>(load.workers + step, options_.min_workers);
    if (decision.workers > reach) decide_on(static_cast<std::uint32_t>(reach), Rule::step);
  } else if (decision.workers < load.workers) {
    if (highest > decision.workers) decide_on(std::min(highest, load.workers), Rule::window);
    if (decision.workers < load.workers && changed_ > Instant::min() &&
        now < add_saturating(changed_, options_.cooldown))
      decide_on(load.workers, Rule::cooldown);
    // Above the maximum, neither.
    const std::uint32_t down = load.workers - std::min(load.workers, options_.max_step_down);
    if (decision.workers < down && down <= options_.max_workers) decide_on(down, Rule::step);
    if (decision.workers > options_.max_workers) decide_on(options_.max_workers, Rule::maximum);
  }
  if (decision.workers != load.workers) changed_ = now;
  // What waits comes closer to its goal; the mean comes closer to the sample, until the difference counts as none.
  const bool full = load.workers >= options_.max_workers;
  const bool steady = slots(busy_ > sample ? busy_ - sample : sample - busy_) == 0;
  decision.settled = decision.workers == load.workers && decision.wanted == load.workers && steady &&
                     (full || sum(load.queued_work) == Duration::zero());
  last_ = decision;
  return decision;
}

Autoscaler::Decision Autoscaler::wanted(const PoolLoad& load) const {
  const MicroWorkers by_load = busy_ * 1000 / static_cast<MicroWorkers>(options_.target_utilisation);
  const MicroWorkers by_backlog = share(sum(load.queued_work), options_.drain_time);
  const MicroWorkers by_goals = for_goals(load, options_);
  Rule rule = by_backlog > by_load ? Rule::backlog : Rule::load;
  if (by_goals > by_load + by_backlog) rule = Rule::wait_goal;
  const std::uint64_t plain = slots(std::max(by_load + by_backlog, by_goals));
  if (load.reserved > plain) rule = Rule::reservation;
  const std::uint64_t all = plain + load.reserved;
  if (all < options_.min_workers) return decided(options_.min_workers, Rule::minimum);
  if (all > options_.max_workers) return decided(options_.max_workers, Rule::maximum);
  return decided(static_cast<std::uint32_t>(all), rule);
}

// A wish that a later one exceeds can't be the highest again.
std::uint32_t Autoscaler::highest_wish(Instant now, std::uint32_t workers) {
  while (!wishes_.empty() && subtract_saturating(now, wishes_.front().at) >= options_.stabilisation_window)
    wishes_.pop_front();
  while (!wishes_.empty() && wishes_.back().workers <= workers) wishes_.pop_back();
  wishes_.push_back({now, workers});
  return wishes_.front().workers;
}

void Autoscaler::charge(std::uint32_t workers, Instant now) {
  if (sampled_ > Instant::min())
    worker_time_ += static_cast<std::uint64_t>(subtract_saturating(now, sampled_).count()) *
                    static_cast<decltype(worker_time_)>(workers);
  sampled_ = now;
}

std::uint64_t Autoscaler::cost() const {
  // Whole seconds first: the product of the whole would not fit 128 bits for every cost.
  constexpr std::uint64_t second = 1'000'000'000;
  const auto seconds = worker_time_ / second;
  const auto cost = seconds * options_.cost_per_worker_second +
                    worker_time_ % second * options_.cost_per_worker_second / second;
  return cost > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(cost);
}

}  // namespace bide
