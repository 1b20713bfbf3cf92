// From a ready job to a running attempt: who goes, with which resources, and the green thread that does the work.

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <bide/executor/cancellation_point.hpp>
#include <bide/executor/jobs/job_engine.hpp>
#include <bide/executor/scope/timeout.hpp>

namespace bide {

/// Posted behind all that is ready now, so that everything which comes in this instant is looked at together.
class JobEngine::DispatchCall {
 public:
  explicit DispatchCall(JobEngine& engine) : engine_(&engine) { engine.hold(); }
  DispatchCall(DispatchCall&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)) {}
  DispatchCall& operator=(DispatchCall&&) = delete;
  ~DispatchCall() {
    if (engine_ != nullptr) engine_->let_go();
  }
  void operator()() { engine_->dispatch_all(); }

 private:
  JobEngine* engine_;
};

/// The claim of an attempt's thread on its job, also when the thread is destroyed before it ran.
class JobEngine::Attempt {
 public:
  Attempt(JobEngine& engine, JobEntry& entry) : engine_(&engine), entry_(&entry), kind_(entry.kind) {
    engine.hold();
    ++engine.thread_count_;
    ++kind_->users;
    entry.in_thread = true;
  }
  Attempt(Attempt&& other) noexcept
      : engine_(std::exchange(other.engine_, nullptr)), entry_(other.entry_), kind_(other.kind_) {}
  Attempt& operator=(Attempt&&) = delete;
  ~Attempt() {
    if (engine_ != nullptr) give_up();
  }

  JobEngine& engine() const { return *engine_; }
  JobEntry& entry() const { return *entry_; }
  /// Nothing of the work is left.
  void ended() {
    entry_->in_thread = false;
    --engine_->thread_count_;
    ended_ = true;
  }

 private:
  void give_up() {
    if (!ended_) {  // destroyed with its executor, or refused by it
      ended();
      if (engine_->executor_gone_) entry_->status = JobStatus::cancelled;
    }
    engine_->kinds_.let_go(*kind_);
    engine_->let_go();
  }

  JobEngine* engine_;
  JobEntry* entry_;
  JobKind* kind_;  // whose name is the thread's, and may have to outlive the job
  bool ended_ = false;
};

// ---- dispatch

void JobEngine::post_dispatch(JobPool& pool) {
  pool.dispatch_wanted = true;
  to_dispatch_.push_back(&pool);
  if (!dispatch_posted_) dispatch_posted_ = executor().post(DispatchCall(*this));
}

void JobEngine::dispatch_all() {
  dispatch_posted_ = false;
  for (std::size_t i = 0; i < to_dispatch_.size(); ++i) {
    to_dispatch_[i]->dispatch_wanted = false;
    dispatch(*to_dispatch_[i]);
  }
  to_dispatch_.clear();
}

void JobEngine::dispatch(JobPool& pool) {
  const Instant at = now();
  if (pool.autoscaler) autoscale(pool, at);
  while (!stopped_ && pool.free_workers() > 0) {
    if (executor_->size() >= executor_->capacity()) [[unlikely]] {
      ask_for_room();
      break;
    }
    JobEntry* entry = next_due_start(pool);
    if (entry != nullptr) {
      note_decision(pool, *entry, DecisionRule::fixed_start, at);
    } else {
      entry = next_job(pool, at);
      if (entry == nullptr) break;
    }
    begin_attempt(*entry, at);
    ++pool.running_count;
    if (journal_.durable()) {
      journal_.tell(*entry);
    } else if (!start_thread(*entry)) {
      undo_start(*entry);
      break;
    }
  }
  serve_after_dispatch(pool);
}

JobEntry* JobEngine::first_that_may_start(JobPool& pool) {
  for (auto place = pool.due_starts.begin(); place != pool.due_starts.end(); ++place) {
    JobEntry* const entry = *place;
    if (!take_resources(*entry, now())) continue;
    pool.due_starts.erase(place);
    return entry;
  }
  return nullptr;
}

JobEntry* JobEngine::next_job(JobPool& pool, Instant now) {
  for (;;) {
    if (!pool.reservations.empty()) {
      const JobEntry* const first = pool.queue.peek(now);
      if (first == nullptr || !pool.leaves_reserved(first->estimate, now)) return nullptr;
    }
    const JobQueue::Popped popped = pool.queue.pop(now);
    if (popped.entry == nullptr) return nullptr;
    if (popped.entry->extras != nullptr && !take_resources(*popped.entry, now)) continue;
    if (decisions_.on()) decisions_.note(pool, *popped.entry, popped.next, std::nullopt, now);
    return popped.entry;
  }
}

void JobEngine::note_decision(JobPool& pool, JobEntry& winner, DecisionRule rule, Instant now) {
  if (decisions_.on()) decisions_.note(pool, winner, pool.queue.best(now), rule, now);
}

/// All that it needs, or nothing: then it waits for the first thing that is not there, unless its start is fixed.
bool JobEngine::take_resources(JobEntry& entry, Instant now) {
  if (entry.extras == nullptr) return true;
  for (const JobExtras::Need& need : entry.extras->needs) {
    const JobEntry* const first = need.resource->first_parked(now);
    const bool goes_behind =
        first != nullptr && goes_before(rank_of(*first, now.time_since_epoch(), Aging::on),
                                        rank_of(entry, now.time_since_epoch(), Aging::on));
    if (!goes_behind && need.resource->available(now) >= need.count) continue;
    if (entry.start_due) return false;
    need.resource->park(entry);
    if (!goes_behind) need.resource->wake_for(*this, executor(), need.count, now);
    return false;
  }
  for (const JobExtras::Need& need : entry.extras->needs) need.resource->take(need.count, now);
  return true;
}

void JobEngine::give_back_needs(JobEntry& entry) {
  for (const JobExtras::Need& need : entry.extras->needs) {
    need.resource->give_back(need.count);
    resource_changed(*need.resource);
    for (std::unique_ptr<JobPool>& pool : pools_)
      if (!pool->due_starts.empty()) want_dispatch(*pool);
  }
}

std::uint64_t JobEngine::need_of(const JobEntry& entry, const JobResource& resource) {
  for (const JobExtras::Need& need : entry.extras->needs)
    if (need.resource == &resource) return need.count;
  return 0;
}

// ---- attempts

/// From waiting to running, in the books; the thread or the lease is the caller's.
void JobEngine::begin_attempt(JobEntry& entry, Instant now) {
  JobPool& pool = *entry.pool;
  pool.remove_waiting(entry);
  --waiting_count_;
  pool.running.push_back(entry);
  if (entry.reserved) pool.unreserve(entry);
  entry.clear_alarm();
  entry.status = JobStatus::running;
  entry.start_due = false;
  entry.started = now;
  ++entry.attempts;
  const Duration waited = subtract_saturating(now.time_since_epoch(), entry.own.waiting_since);
  pool.statistics.started(entry.own_priority, waited, now);
  if (journal_.durable()) record_start(entry, now);
}

void JobEngine::record_start(JobEntry& entry, Instant now) {
  JobRecord record;
  record.kind = JobRecord::Kind::started;
  record.id = entry.id;
  record.attempt = entry.attempts;
  record.at = wall_time(now);
  journal_.add(std::move(record));
  entry.store = JobEntry::Store::writing;
}

/// False: the executor takes no thread now, and has been asked for room.
bool JobEngine::start_thread(JobEntry& entry) {
  SubmitOptions options{.name = entry.kind->name.c_str(), .priority = entry.priority};
  if (entry.has_deadline()) {
    options.deadline = entry.deadline;
    options.duration_hint = entry.estimate;
  }
  Task<> task = attempt(Attempt(*this, entry));
  const std::optional<Handle<void>> handle = executor().try_submit(task, options);
  if (!handle) {
    ask_for_room();
    return false;
  }
  entry.thread_id = handle->id();
  return true;
}

/// It waits again, where it was.
void JobEngine::undo_start(JobEntry& entry) {
  JobPool& pool = *entry.pool;
  give_back_resources(entry);
  pool.running.remove(entry);
  --pool.running_count;
  --entry.attempts;
  entry.status = JobStatus::ready;
  pool.add_waiting(entry);
  ++waiting_count_;
  pool.queue.push(entry);
}

Task<> JobEngine::attempt(Attempt held) {
  JobEngine& engine = held.engine();
  JobEntry& entry = held.entry();
  // The kind may get another handler while this one works.
  const std::shared_ptr<JobWork> handler = entry.work ? nullptr : entry.kind->handler;
  JobWork& work = handler == nullptr ? entry.work : *handler;
  JobContext context(entry.id, entry.attempts,
                     entry.has_deadline() ? std::optional<Instant>(entry.deadline) : std::nullopt,
                     entry.payload());
  const std::optional<Duration> limit = entry.extras == nullptr ? std::nullopt : entry.extras->timeout;
  JobOutcome outcome;
  try {
    if (limit) {
      std::optional<JobOutcome> in_time = co_await try_timeout(*limit, work(context));
      if (in_time)
        outcome = std::move(*in_time);
      else
        outcome = JobOutcome::retryable("timed out after " + std::to_string(limit->count()) + " ns");
    } else {
      outcome = co_await work(context);
    }
  } catch (const Cancelled&) {
    outcome = JobOutcome::cancelled("cancelled");
  } catch (const std::exception& error) {
    outcome = JobOutcome::failure(std::string("exception: ") + error.what());
  } catch (...) {
    outcome = JobOutcome::failure("exception of an unknown type");
  }
  held.ended();
  engine.attempt_ended(entry, std::move(outcome));
}

}  // namespace bide
