#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/jobs/autoscaler.hpp>
#include <bide/executor/jobs/duration_estimate.hpp>
#include <bide/executor/jobs/feasibility.hpp>
#include <bide/executor/jobs/job_metrics.hpp>
#include <bide/executor/jobs/job_queue.hpp>
#include <bide/executor/jobs/job_statistics.hpp>
#include <bide/executor/jobs/job_summary.hpp>
#include <bide/executor/jobs/pool_options.hpp>
#include <bide/executor/jobs/scheduler_waits.hpp>
#include <bide/executor/timed_call.hpp>

namespace bide {

class JobPool;

/// Waits of the engine, as they came.
struct WaitList {
  SchedulerWait* first = nullptr;
  SchedulerWait* last = nullptr;
  std::size_t size = 0;

  bool empty() const { return first == nullptr; }
  void push_back(SchedulerWait& wait);
  void remove(SchedulerWait& wait);
};

/// Calls the engine when a pool's autoscaler is due though nothing has happened. It keeps no run from ending.
class ScaleTimer final : private TimedCall {
 public:
  ScaleTimer(JobEngine& engine, JobPool& pool) : engine_(engine), pool_(pool) {}
  void set(Executor& executor, Instant at);
  void clear() noexcept { disarm(); }

 private:
  void due() noexcept override;

  JobEngine& engine_;
  JobPool& pool_;
};

/// A pool as the engine keeps it: its jobs by what they do, its bounds, its workers, and what it has learned.
class JobPool {
 public:
  JobPool(JobEngine& owner, std::string of, PoolOptions with);
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  /// A job of the class may be added without breaking a bound of the pool.
  bool has_room(Priority priority) const {
    const auto c = static_cast<std::size_t>(priority);
    if (waiting[c].size() >= options.bounds.of_class[c] || waiting_count >= options.bounds.in_all)
      return false;
    return !keeps_headroom_ || leaves_headroom(priority);
  }
  /// A submitter of the class or a higher one waits.
  bool waits_for_room(Priority priority) const;
  /// Who makes room for a job of the class, by the overflow rule; null: nobody.
  JobEntry* victim(Priority newcomer) const;

  std::size_t free_workers() const { return running_count < workers ? workers - running_count : 0; }

  void add_waiting(JobEntry& entry) {
    waiting_of(entry.own_priority).push_back(entry);
    ++waiting_count;
  }
  void remove_waiting(JobEntry& entry) {
    if (entry.next != nullptr)
      entry.next->prefetch();  // of a class without deadlines, the one that goes next
    waiting_of(entry.own_priority).remove(entry);
    --waiting_count;
  }
  void remove_running(JobEntry& entry) {
    if (entry.next != nullptr) entry.next->prefetch();  // where jobs take alike long, the one that ends next
    running.remove(entry);
  }
  JobList& waiting_of(Priority priority) { return waiting[static_cast<std::size_t>(priority)]; }

  /// Keeps a worker for the entry's fixed start, if not too many are kept around that time.
  void reserve(JobEntry& entry);
  void unreserve(JobEntry& entry);
  std::size_t reserved_count() const { return reservations.size(); }
  /// An attempt of so long may start now, and leave the workers that fixed starts will need.
  bool leaves_reserved(Duration estimate, Instant now) const;

  Feasibility feasibility(Priority priority, std::chrono::nanoseconds latest_start, Duration estimate,
                          std::optional<Instant> deadline, Instant now) const;
  PoolState state(Instant now) const;
  PoolLoad load(Instant now) const;
  PoolGauges gauges(Instant now) const;

  JobEngine& engine;
  std::string name;
  PoolOptions options;
  std::size_t workers;
  JobQueue queue;
  std::array<JobList, priority_count> waiting;  // by own class: what bounds count
  JobList running;                              // on workers and leased
  std::size_t waiting_count = 0;
  std::size_t running_count = 0;  // on workers
  std::size_t leased_count = 0;
  std::array<WaitList, priority_count> submitters;
  std::vector<std::pair<Instant, JobEntry*>> reservations;  // by instant, then as they came
  std::deque<JobEntry*> due_starts;                         // their time has come, and no worker was free
  DurationEstimates estimates;
  JobStatistics statistics;
  std::optional<Autoscaler> autoscaler;
  std::unique_ptr<ScaleTimer> scale_timer;  // from the first decision on
  bool dispatch_wanted = false;
  bool used = false;  // a job was submitted: the options are settled

 private:
  bool leaves_headroom(Priority priority) const;

  bool keeps_headroom_;  // any
};

}  // namespace bide
