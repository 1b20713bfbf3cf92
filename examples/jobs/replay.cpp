#include "replay.hpp"

#include "dependents.hpp"
#include "waiting_jobs.hpp"

#include <bide/executor/executor.hpp>

#include <algorithm>
#include <utility>

namespace bide_jobs {
namespace {

/// The state that the green threads of one replay share. One OS thread runs them, so nothing is locked.
///
/// The classes of the threads make the order within an instant: whoever ends is critical, arrivals are high,
/// the dispatcher is low.
class Replay {
 public:
  Replay(const Workload& workload, const ReplayOptions& options)
      : jobs_(workload.jobs),
        options_(options),
        free_(options.workers),
        waiting_(options.policy),
        dependents_(workload.jobs) {}

  History run();

 private:
  bide::Task<> arrive();
  bide::Task<> dispatch();
  bide::Task<> hold_slots(std::uint32_t index);

  void enter(std::uint32_t index);
  Fate::End try_enter(std::uint32_t index);
  std::vector<std::uint32_t> free_dependents(std::uint32_t index, Dependents::Ending ending);
  void note_refusal(std::uint32_t index, Fate::End end);
  void wake_dispatcher();
  std::uint32_t choose();
  void start(std::uint32_t index);
  void count_finished();
  std::size_t waiting_count() const { return waiting_.size() + (head_ ? 1U : 0U); }
  static Nanoseconds now() { return bide::now().time_since_epoch(); }

  const std::vector<Job>& jobs_;
  const ReplayOptions& options_;
  std::int64_t free_;
  WaitingJobs waiting_;
  Dependents dependents_;
  std::optional<std::uint32_t> head_;  // chosen, and waiting for its slots
  bool dispatcher_awake_ = false;
  std::size_t finished_count_ = 0;
  History history_;
};

/// One thread brings all jobs in: they are in the order of their submit times.
bide::Task<> Replay::arrive() {
  for (std::uint32_t index = 0; index < jobs_.size(); ++index) {
    if (jobs_[index].submit > now()) co_await bide::SleepUntil(bide::Instant(jobs_[index].submit));
    if (dependents_.arrive(index)) enter(index);
  }
}

/// Returns: who is ready now, in the order in which they enter.
std::vector<std::uint32_t> Replay::free_dependents(std::uint32_t index, Dependents::Ending ending) {
  Dependents::Freed freed = dependents_.end(index, ending);
  for (std::uint32_t skipped : freed.skipped) note_refusal(skipped, Fate::End::skipped);
  return std::move(freed.ready);
}

/// Where it is refused, those enter at once whom that frees, before anybody else: a list and no recursion, for chains may
/// be as long as the file.
void Replay::enter(std::uint32_t index) {
  std::vector<std::uint32_t> entering{index};  // the next one is the last
  while (!entering.empty()) {
    const std::uint32_t next = entering.back();
    entering.pop_back();
    const Fate::End end = try_enter(next);
    if (end == Fate::End::done) continue;
    note_refusal(next, end);
    const std::vector<std::uint32_t> freed = free_dependents(next, Dependents::Ending::failure);
    entering.insert(entering.end(), freed.rbegin(), freed.rend());
  }
}

/// Returns: Fate::End::done, it waits now; else why it is refused.
Fate::End Replay::try_enter(std::uint32_t index) {
  if (jobs_[index].slots > options_.workers) return Fate::End::too_wide;
  if (waiting_count() >= options_.capacity) return Fate::End::queue_full;
  history_.fates[index].sequence = waiting_.push(index, jobs_[index]);
  history_.fates[index].entered_before = history_.decisions.size();
  if (free_ > 0 && !head_) wake_dispatcher();
  return Fate::End::done;
}

void Replay::note_refusal(std::uint32_t index, Fate::End end) {
  history_.fates[index].end = end;
  history_.fates[index].entered_before = history_.decisions.size();
  count_finished();
}

void Replay::wake_dispatcher() {
  if (std::exchange(dispatcher_awake_, true)) return;
  bide::submit(dispatch(), {.name = "dispatcher", .priority = Priority::low});
}

bide::Task<> Replay::dispatch() {
  dispatcher_awake_ = false;
  while (free_ > 0) {
    if (!head_ && waiting_.empty()) break;
    if (!head_) head_ = choose();
    if (jobs_[*head_].slots > free_) break;
    start(*head_);
    head_.reset();
  }
  co_return;
}

std::uint32_t Replay::choose() {
  Decision decision;
  decision.at = now();
  decision.job = waiting_.pop(decision.at);
  decision.runner_up = waiting_.peek(decision.at);
  decision.free_slots = free_;
  history_.fates[decision.job].decision = history_.decisions.size();
  history_.decisions.push_back(decision);
  return decision.job;
}

void Replay::start(std::uint32_t index) {
  free_ -= jobs_[index].slots;
  history_.fates[index].started = now();
  bide::submit(hold_slots(index), {.name = jobs_[index].name.c_str(), .priority = Priority::critical});
}

bide::Task<> Replay::hold_slots(std::uint32_t index) {
  co_await bide::Sleep(jobs_[index].duration);
  free_ += jobs_[index].slots;
  history_.fates[index].ended = now();
  history_.makespan = std::max(history_.makespan, now());
  count_finished();
  for (std::uint32_t ready : free_dependents(index, Dependents::Ending::success)) enter(ready);
  if (waiting_count() > 0) wake_dispatcher();
}

void Replay::count_finished() {
  constexpr std::size_t report_every = 1024;
  if (++finished_count_ % report_every == 0 && options_.on_progress) options_.on_progress(finished_count_);
}

History Replay::run() {
  history_.fates.resize(jobs_.size());
  history_.decisions.reserve(jobs_.size());
  // Each running job has a slot and a thread; beside them there are arrivals and at most one dispatcher.
  constexpr std::size_t others = 2;
  std::size_t most_running = std::min(static_cast<std::size_t>(options_.workers), jobs_.size());
  bide::Executor executor({.time = bide::TimeMode::virtual_time, .capacity = most_running + others});
  executor.submit(arrive(), {.name = "arrivals", .priority = Priority::high});
  executor.run();
  return std::move(history_);
}

}  // namespace

const char* to_string(Fate::End end) {
  if (end == Fate::End::queue_full) return "queue_full";
  if (end == Fate::End::skipped) return "skipped";
  return end == Fate::End::too_wide ? "too_wide" : "done";
}

History replay(const Workload& workload, const ReplayOptions& options) {
  return Replay(workload, options).run();
}

}  // namespace bide_jobs
