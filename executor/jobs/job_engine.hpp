#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bide/executor/executor_guest.hpp>
#include <bide/executor/jobs/decision_ring.hpp>
#include <bide/executor/jobs/job_entry.hpp>
#include <bide/executor/jobs/job_journal.hpp>
#include <bide/executor/jobs/job_kinds.hpp>
#include <bide/executor/jobs/job_pool.hpp>
#include <bide/executor/jobs/job_resource.hpp>
#include <bide/executor/jobs/job_scheduler.hpp>
#include <bide/executor/jobs/job_table.hpp>
#include <bide/executor/jobs/recurrences.hpp>
#include <bide/executor/jobs/same_name.hpp>
#include <bide/executor/random.hpp>
#include <bide/executor/sync/event.hpp>

namespace bide {

/// A JobScheduler from the inside. It lives until the scheduler, all handles and all threads of its own are gone, so
/// that none of them has to look who went first.
///
/// Where to read: accepting (job_accept.cpp), dispatch and attempts (job_dispatch.cpp), ends, retries and dependents
/// (job_ends.cpp), dependencies and inheritance (dependencies.cpp), leases (leases.cpp), store (job_restore.cpp),
/// questions (job_questions.cpp).
///
/// Invariants:
/// 1. A live job is waiting in its pool or running in it, as JobEntry::waits() says.
/// 2. While a job with a store has `store != idle`, nobody but the journal moves it on.
/// 3. Nothing that the caller can see changes before what can throw has been done.
class JobEngine final : private ExecutorGuest {
 public:
  explicit JobEngine(JobSchedulerOptions options);
  ~JobEngine();
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;

  // ---- lifetime
  void hold() { ++users_; }
  void let_go() {
    if (--users_ == 0) delete this;
  }
  /// The scheduler is destroyed.
  void abandon();

  // ---- set-up
  void add_pool(std::string name, PoolOptions options);
  void resize_pool(std::string_view name, std::size_t workers);
  void add_resource(std::unique_ptr<JobResource> resource);
  void handle(std::string_view kind, JobWork work) { kinds_.handle(kind, std::move(work)); }
  std::size_t restore();

  // ---- for the awaits of submit, lease and report
  enum class Placed : std::uint8_t { now, waits };
  Placed submit(SubmitJob& wait);
  JobHandle handle_of(SubmitJob& wait);
  Placed lease(TakeLease& wait);
  Placed report(ReportLease& wait);
  Placed await_kept(AwaitKept& wait);
  std::optional<Lease> renew(JobId id, std::uint32_t attempt, Duration ttl);
  static void fill_lease(Lease& lease, const JobEntry& entry);
  bool held(const JobEntry& entry, std::uint32_t attempt) const;
  void withdraw(SchedulerWait& wait) noexcept;

  // ---- handles
  static JobHandle handle_for(JobEntry& entry) { return JobHandle(entry); }
  void hold(JobEntry& entry) {
    ++entry.references;
    hold();
  }
  void let_go(JobEntry& entry) noexcept {
    if (--entry.references == 0 && !entry.known && !entry.in_thread) release(entry);
    let_go();
  }
  bool cancel(JobEntry& entry);
  JobResult result_of(const JobEntry& entry) const;

  // ---- questions
  JobTable& table() { return table_; }
  Feasibility feasibility(const Job& job);
  JobSummary summary_of(const JobEntry& entry) const;
  std::vector<JobSummary> list(const JobFilter& filter);
  std::vector<const JobEntry*> listed(const JobFilter& filter);
  std::vector<JobSummary> dead_letters() const;
  bool resubmit(JobId id);
  std::vector<JobSummary> drain_dead_letters();
  std::vector<PoolState> pool_states();
  const DecisionRing& decisions() const { return decisions_; }
  std::string explain(JobId earlier, JobId later) const;
  const JobStatistics& statistics(std::string_view pool) const;
  std::string metrics();
  WallTime wall_time(Instant instant);
  Instant instant_of(WallTime wall);
  const JobPool* find_pool(std::string_view name) const;
  const std::vector<std::unique_ptr<JobPool>>& pools() const { return pools_; }

  // ---- recurrences
  Recurrences& recurrences() { return recurrences_; }
  /// Throws: as submit, but never waits for room.
  JobHandle submit_occurrence(Job job);
  /// Throws: std::invalid_argument for a template that submit would throw it for.
  void check_template(const Job& job);
  void refuse_when_closed() const;
  void keep_recurrence(JobRecord record) {
    if (journal_.durable() && !abandoned_) journal_.add(std::move(record));
  }

  // ---- the end
  Task<> shut_down(JobScheduler::Shutdown how);

  // ---- called from below: alarms, resources, journal
  void alarm_set();
  void alarm_cleared() noexcept;
  void alarm_due(JobEntry& entry) noexcept;
  void resource_changed(JobResource& resource) noexcept;
  void scale_is_due(JobPool& pool);
  void kept(JobEntry& entry);
  void not_kept(JobEntry& entry);
  void rethrow_store_error() const {
    if (journal_.error() != nullptr) [[unlikely]]
      std::rethrow_exception(journal_.error());
  }
  void wake(SchedulerWait& wait);
  void fail(SchedulerWait& wait, std::exception_ptr error);
  /// That of the first use. Requires: it has not gone.
  Executor& executor() {
    if (executor_ == nullptr) [[unlikely]]
      find_executor();
    return *executor_;
  }
  /// The latest that was seen, where the executor has gone.
  Instant now() {
    if (!executor_gone_) [[likely]]
      latest_ = executor().now();
    return latest_;
  }
  using ExecutorGuest::ask_for_room;
  void journal_rests();

 private:
  class Attempt;
  class DispatchCall;

  void find_executor();
  void room_came() override;
  void executor_goes() noexcept override;
  void keep_running_for_alarms();

  // accepting
  JobPool& pool_for(std::string_view name) {
    if (last_pool_ != nullptr && same_name(last_pool_->name, name)) [[likely]]
      return *last_pool_;
    return other_pool(name);
  }
  JobPool& other_pool(std::string_view name);
  void check(const Job& job);
  void check_work(const Job& job);
  void check_resources(const Job& job) const;
  JobEntry* same_key(const Job& job) const;
  void check_feasible(const Job& job, const JobPool& pool);
  bool make_room(JobPool& pool, Priority priority);
  bool room_for(const JobPool& pool, Priority priority) const {
    return waiting_count_ < options_.bound && pool.has_room(priority);
  }
  [[noreturn]] void refuse_full(const JobPool& pool, Priority priority) const;
  Placed place(Job& job, SubmitJob* wait, JobEntry*& placed);
  JobEntry& make_entry(Job& job, JobPool& pool, Instant now);
  void release(JobEntry& entry) noexcept {
    JobKind& kind = *entry.kind;
    table_.release(entry);
    kinds_.let_go(kind);
  }
  void accept(JobEntry& entry);
  void take_back(JobEntry& entry) noexcept;
  static void give_back_job(JobEntry& entry, Job& job) noexcept;
  void record_accepted(JobEntry& entry);
  void fill_extras(JobEntry& entry, Job& job);
  static Instant deadline_of(const Job& job, Instant now) {
    Instant deadline = job.deadline.value_or(Instant::max());
    if (job.deadline_in) deadline = std::min(deadline, add_saturating(now, *job.deadline_in));
    return deadline;
  }
  static void set_deadline(JobEntry& entry, Instant deadline) {
    entry.deadline = deadline;
    entry.own.horizon = urgency::horizon(entry.estimate);
    entry.own.latest_start = urgency::latest_start(deadline.time_since_epoch(), entry.estimate);
  }
  void enter(JobEntry& entry);
  void enter_unblocked(JobEntry& entry);
  void make_ready(JobEntry& entry, Instant since);
  void start_is_due(JobEntry& entry);
  void start_was_missed(JobEntry& entry);
  void serve_submitters(JobPool& pool);
  void serve_after_dispatch(JobPool& pool) {
    if (submitter_count_ != 0) serve_all_submitters(pool);
  }
  void serve_all_submitters(JobPool& first);

  // dependencies
  JobEntry* find_parent(const Dependency& dependency) const;
  void check_parents(const Job& job, const JobPool& pool) const;
  void link_parents(JobEntry& entry);
  void link_awaiting(JobEntry& parent);
  bool blocked(const JobEntry& entry) const;
  void refuse_cycle(const Job& job) const;
  static bool satisfied(Dependency::On on, JobStatus end);
  void unlink_parents(JobEntry& entry);
  void unlink_children(JobEntry& parent);
  void parent_ended(JobEntry& parent);
  void lift_parents_of(JobEntry& entry);
  bool rank_again(JobEntry& entry);
  void set_rank(JobEntry& entry, Priority priority, const Urgency& urgency);

  // dispatch
  void want_dispatch(JobPool& pool) {
    if (pool.dispatch_wanted || stopped_) return;
    // Leases are asked for, not given out.
    if (pool.workers == 0 && submitter_count_ == 0 && !pool.autoscaler) return;
    post_dispatch(pool);
  }
  void post_dispatch(JobPool& pool);
  void dispatch_all();
  void dispatch(JobPool& pool);
  JobEntry* next_job(JobPool& pool, Instant now);
  JobEntry* next_due_start(JobPool& pool) {
    return pool.due_starts.empty() ? nullptr : first_that_may_start(pool);
  }
  JobEntry* first_that_may_start(JobPool& pool);
  bool take_resources(JobEntry& entry, Instant now);
  void give_back_resources(JobEntry& entry) {
    if (entry.extras != nullptr) give_back_needs(entry);
  }
  void give_back_needs(JobEntry& entry);
  static std::uint64_t need_of(const JobEntry& entry, const JobResource& resource);
  void note_decision(JobPool& pool, JobEntry& winner, DecisionRule rule, Instant now);
  void begin_attempt(JobEntry& entry, Instant now);
  bool start_thread(JobEntry& entry);
  Task<> attempt(Attempt held);
  void record_start(JobEntry& entry, Instant now);
  void undo_start(JobEntry& entry);
  void start_kept(JobEntry& entry);

  // ends
  void attempt_ended(JobEntry& entry, JobOutcome&& outcome);
  JobStatus end_of(JobEntry& entry);
  /// The store has it first, if there is one; `finish_end` follows.
  void keep_end(JobEntry& entry, JobStatus status) {
    entry.decided = status;
    if (journal_.durable()) [[unlikely]]
      return record_end(entry);
    finish_end(entry);
  }
  void record_end(JobEntry& entry);
  void finish_unkept(JobEntry& entry);
  void finish_end(JobEntry& entry) {
    if (entry.status == JobStatus::running) entry.pool->remove_running(entry);
    if (entry.decided == JobStatus::retrying)
      retry(entry);
    else
      settle(entry);
  }
  void retry(JobEntry& entry);
  void settle(JobEntry& entry);
  void end_waiting(JobEntry& entry, JobStatus status, std::string why);
  void drop_waiting(JobEntry& entry);
  void wake_waiters(JobEntry& entry);
  void retain(JobEntry& entry);
  void forget(JobEntry& entry) {
    if (journal_.durable()) [[unlikely]]
      record_removal(entry);
    if (entry.extras != nullptr && !entry.extras->key.empty()) table_.forget_key(entry.extras->key, entry);
    table_.forget(entry);
    if (entry.references == 0 && !entry.in_thread) release(entry);
  }
  void record_removal(const JobEntry& entry);
  void tell_dependents();

  // restart
  void restore_one(StoredState::Entry& stored);
  StoredJob stored(const JobEntry& entry);

  void autoscale(JobPool& pool, Instant now);
  Task<> keep_running();
  bool busy() const;
  bool draining() const;
  void end_what_is_left();
  void end_left(JobEntry& entry);
  void take_back_lease(JobEntry& entry);

  JobSchedulerOptions options_;
  Executor* executor_ = nullptr;
  std::size_t users_ = 1;
  bool closed_ = false;     // takes no more jobs
  bool stopped_ = false;    // dispatches nothing
  bool abandoned_ = false;  // the scheduler is gone, or its executor
  bool executor_gone_ = false;
  bool restored_ = false;
  bool dispatch_posted_ = false;
  bool telling_ = false;  // tell_dependents is on the stack
  std::optional<WallTime> epoch_;
  Instant latest_{};                 // of `now`
  std::uint64_t next_sequence_ = 0;  // of tickets, over all pools
  std::size_t waiting_count_ = 0;
  std::size_t submitter_count_ = 0;
  std::size_t thread_count_ = 0;  // attempts' green threads
  std::size_t alarms_ = 0;
  bool keeper_lives_ = false;
  Event no_alarms_{"the jobs that are scheduled"};
  Event quiet_{"the jobs to end"};
  Random random_;
  JobTable table_;
  std::vector<std::unique_ptr<JobPool>> pools_;  // in the order in which they were added
  JobPool* last_pool_ = nullptr;                 // of the latest submit
  JobKinds kinds_;
  std::map<std::string, std::unique_ptr<JobResource>, std::less<>> resources_;
  std::map<std::string, std::vector<JobEntry*>, std::less<>>
      awaiting_;  // by key, of jobs that are yet to come
  std::vector<JobPool*> to_dispatch_;
  std::vector<JobEntry*> ended_;  // their dependents have not been told yet
  std::vector<JobEntry*>
      without_thread_;  // attempts that the store knows of, while the executor takes no threads
  JobList retained_;
  JobList dead_letters_;
  DecisionRing decisions_;
  JobJournal journal_;
  Recurrences recurrences_;
};

}  // namespace bide
