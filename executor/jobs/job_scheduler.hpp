#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <bide/executor/jobs/decision_log.hpp>
#include <bide/executor/jobs/feasibility.hpp>
#include <bide/executor/jobs/job.hpp>
#include <bide/executor/jobs/job_handle.hpp>
#include <bide/executor/jobs/job_refused.hpp>
#include <bide/executor/jobs/job_statistics.hpp>
#include <bide/executor/jobs/job_store.hpp>
#include <bide/executor/jobs/job_summary.hpp>
#include <bide/executor/jobs/lease.hpp>
#include <bide/executor/jobs/pool_options.hpp>
#include <bide/executor/jobs/recurring.hpp>
#include <bide/executor/sync/rate_limiter.hpp>

namespace bide {

class JobEngine;
class SubmitJob;
class TakeLease;
class ReportLease;
class AwaitKept;

struct JobSchedulerOptions {
  /// Wall time of Instant 0. Unset: 1970 in virtual time; in real time what makes `now` right at the first use.
  std::optional<WallTime> epoch{};
  /// Of job ids: id = shard << 56 | id_epoch << 40 | n. A new process over the same store takes the next id_epoch, or
  /// leaves it: ids go on behind the highest of the store.
  std::uint8_t shard = 0;
  std::uint16_t id_epoch = 0;
  /// Of jitter.
  std::uint64_t seed = 1;
  /// Jobs that may wait, over all pools.
  std::size_t bound = JobBounds::none;
  /// Ended jobs that are still found by id and key, and served to late dependents; then the oldest ends go.
  std::size_t retained = 10'000;
  /// Dead letters that are kept beyond that; then the oldest go.
  std::size_t dead_letters = 10'000;
  /// Decisions that are kept. 0: none.
  std::size_t decisions = 1'024;
  /// Where jobs are kept over restarts; must outlive the scheduler. Null: in memory.
  JobStore* store = nullptr;
};

/// Runs jobs: in pools of workers, by class, deadline and waiting time, with retries, dependencies and the rest of
/// what Job and PoolOptions say.
///
///     JobScheduler scheduler;
///     scheduler.add_pool("images", {.workers = 4});
///     JobHandle handle = co_await scheduler.submit(std::move(job));
///     JobResult result = co_await handle;
///     co_await scheduler.shut_down();
///
/// Order:   of the ready jobs of a pool as queue/order.hpp says, with Aging::on: latest starts are fixed at the submit,
///          waits count from when a job became ready. All that becomes ready before the loop comes to the dispatch is
///          looked at together.
/// Runs:    each attempt is a green thread of the job's class and deadline, on the executor that first awaits or calls
///          the scheduler from within a run; the scheduler belongs to that executor from then on.
/// Time:    the executor's clock alone: virtual time and real time alike.
/// Durable: with a store `submit` returns when the job is on the disk; an attempt begins, and an end is seen, when its
///          record is. After a restart every accepted job that had not ended is queued again in its old order. An attempt
///          that was under way runs again, with a higher number: at least once. A store that fails stops the
///          scheduler: nothing more is dispatched, and every call that needs the store throws what the store threw.
///          An executor that has no room for another thread is waited for.
/// Ends:    `shut_down`, or the destructor, which cancels what is live and waits for nothing. When its executor goes first,
///          nothing runs any more, submits are refused, and questions are answered as of then.
class JobScheduler {
 public:
  explicit JobScheduler(JobSchedulerOptions options = {});
  ~JobScheduler();
  JobScheduler(const JobScheduler&) = delete;
  JobScheduler& operator=(const JobScheduler&) = delete;

  // ---- set-up: plain calls, at any time

  /// The pool "default" is there from the start, with one worker; named again before its first job, it gets these options.
  /// Throws: std::invalid_argument, such a pool is there, or the options contradict each other.
  void add_pool(std::string name, PoolOptions options = {});
  /// More workers start at once; with fewer, none is stopped, and the next attempts wait.
  void resize_pool(std::string_view name, std::size_t workers);
  /// `permits` attempts at a time may use one each, whatever their pools.
  void add_semaphore(std::string name, std::uint64_t permits);
  /// Starts full. A job that asks for more than `burst` at once is refused.
  void add_token_bucket(std::string name, Rate rate, std::uint64_t burst);
  /// What does jobs of this kind that bring a payload and no work: `function(JobContext&)` returns Task<JobOutcome>.
  /// Given again, it does the attempts that begin from then on.
  void handle(std::string kind, JobWork work);
  /// With a store: loads it and queues what had not ended. Called by the first submit or lease otherwise; handlers and
  /// pools are added before. Within a run. Blocks. Throws: what the store throws.
  /// Returns: how many jobs are live again.
  std::size_t restore();

  // ---- jobs

  /// `co_await scheduler.submit(std::move(job))`: queues the job, and gives its handle. Await it in the same
  /// expression, it refers to the job; what throws has left the job with the caller.
  ///
  /// Suspends: while Overflow::wait makes it wait for room, and until the store has it; else not. Cancellation point: a
  ///           Cancelled that came while it waited for room has submitted nothing; one that came while the store
  ///           wrote finds the job accepted.
  /// Returns:  the handle of the job that has the same key, if one is live or retained; nothing was submitted then.
  /// Throws:   JobRefused; std::invalid_argument for what can't be: a pool or resource that is not there, a kind
  ///           without handler, work in a durable job; Cancelled; what the store throws.
  [[nodiscard]] SubmitJob submit(Job&& job, std::source_location where = std::source_location::current());
  /// Submits a copy, which is made with the call. Else as above.
  [[nodiscard]] SubmitJob submit(const Job& job,
                                 std::source_location where = std::source_location::current());

  /// Whether it would be in time; submits nothing. Cost: bounded, see Feasibility. PoolOptions::Infeasible::refuse asks
  /// at each submit.
  Feasibility feasibility(const Job& job) const;

  /// Live and retained jobs.
  std::optional<JobHandle> find(JobId id) const;
  std::optional<JobHandle> find(std::string_view key) const;
  /// As JobHandle::cancel. Returns: false, no such job is live.
  bool cancel(JobId id);
  /// In the filter's order. Cost: O(jobs that are kept), and a copy of each that is listed.
  std::vector<JobSummary> list(const JobFilter& filter = {}) const;
  std::optional<JobSummary> summary(JobId id) const;

  /// Oldest end first.
  std::vector<JobSummary> dead_letters() const;
  /// Makes a dead letter live again, with all its attempts before it; attempt numbers go on.
  /// Returns: false, no such dead letter. Throws: JobRefused, there is no room.
  bool resubmit(JobId id);
  /// Forgets all dead letters. Returns: them.
  std::vector<JobSummary> drain_dead_letters();

  // ---- workers outside of the process

  /// `co_await scheduler.lease(pool, 30s)`: the job that goes next, if one is ready; `workers` does not limit leases.
  ///
  /// Suspends: until the store has the attempt's number; without a store not. Cancellation point.
  /// Returns:  std::optional<Lease>.
  [[nodiscard]] TakeLease lease(std::string_view pool, Duration ttl,
                                std::source_location where = std::source_location::current());
  /// `co_await scheduler.report(id, attempt, outcome)`: ends the attempt. Suspends: until the store has it.
  /// Returns: Reported; what is not `accepted` has changed nothing.
  [[nodiscard]] ReportLease report(JobId id, std::uint32_t attempt, JobOutcome outcome,
                                   std::source_location where = std::source_location::current());
  /// Holds the lease for `ttl` from now. Returns: the lease as it is now; nothing where `report` would be refused.
  std::optional<Lease> renew(JobId id, std::uint32_t attempt, Duration ttl);

  // ---- what recurs

  /// From now on; the name is its key. Within a run. With a store it goes on after a restart, from where it was.
  /// Throws: std::invalid_argument, the name is taken, cron or zone are wrong, or `submit` would throw it for the job;
  ///         JobRefused, the scheduler shuts down; what the store throws.
  void every(Recurring recurring);
  /// Jobs that were submitted stay. Returns: false, no such name.
  bool stop_recurring(std::string_view name);
  /// By name.
  std::vector<RecurringState> recurring() const;

  // ---- what plain calls have changed

  /// `co_await scheduler.kept()`: then the store has what `every`, `stop_recurring`, `cancel`, `resubmit` and
  /// `drain_dead_letters` have done so far. Suspends: until then; without a store not. Cancellation point.
  /// Throws: what the store throws.
  [[nodiscard]] AwaitKept kept(std::source_location where = std::source_location::current());

  // ---- questions

  /// Cost: O(waiting jobs), for the longest wait; so is that of `metrics`.
  std::vector<PoolState> pools() const;
  /// Oldest first, the latest JobSchedulerOptions::decisions of all pools.
  std::vector<Decision> decisions() const;
  /// A sentence: why `earlier` was dispatched before `later`, with both scores, or why the question does not arise.
  std::string explain(JobId earlier, JobId later) const;

  /// What happened to the jobs of the class since the start, and in the last few minutes (JobStatistics).
  /// Throws: std::invalid_argument, no such pool.
  ClassStatistics statistics(std::string_view pool, Priority priority) const;
  ClassStatistics recent_statistics(std::string_view pool, Priority priority) const;
  /// For Prometheus, "text/plain; version=0.0.4": the families bide_jobs_* of job_metrics.hpp.
  std::string metrics() const;

  WallTime wall_time(Instant instant) const;
  Instant instant(WallTime wall) const;

  // ---- the end

  enum class Shutdown : std::uint8_t {
    drain,  ///< Runs all that is live, dependents and retries too; what waits for a later start or occurrence does not run.
    finish,  ///< Ends the attempts under way; the rest is cancelled, or with a store stays for the next process.
    cancel,  ///< Cancels the attempts under way, too.
  };
  /// `co_await scheduler.shut_down()`: takes no more jobs, and returns when no attempt is under way.
  /// Suspends: until then. Cancellation point: what has begun goes on.
  Task<> shut_down(Shutdown how = Shutdown::finish);

 private:
  JobEngine* engine_;
};

}  // namespace bide

#include <bide/executor/jobs/scheduler_waits.hpp>
