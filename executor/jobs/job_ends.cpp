// From the end of an attempt to the end of a job: retries, dead letters, who is told, and what is remembered.

#include <utility>

#include <bide/executor/cancellation_point.hpp>
#include <bide/executor/jobs/backoff.hpp>
#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

inline JobStatus JobEngine::end_of(JobEntry& entry) {
  const JobOutcome& outcome = entry.outcome;
  if (outcome.succeeded()) return JobStatus::succeeded;
  if (outcome.kind() == JobOutcome::Kind::cancelled) return JobStatus::cancelled;
  ++entry.failed_attempts;
  if (!outcome.may_retry()) return JobStatus::failed;
  if (entry.cancel_requested) return JobStatus::cancelled;
  if (entry.failed_attempts >= entry.retry().max_attempts) return JobStatus::dead_lettered;
  const Duration delay =
      retry_delay(entry.retry(), entry.failed_attempts + 1, outcome.retry_after(), random_);
  entry.due_at = add_saturating(now(), delay);
  return JobStatus::retrying;
}

void JobEngine::attempt_ended(JobEntry& entry, JobOutcome&& outcome) {
  JobPool& pool = *entry.pool;
  const Instant at = now();
  const Duration ran = subtract_saturating(at, entry.started);
  entry.clear_alarm();
  --(entry.leased() ? pool.leased_count : pool.running_count);
  entry.is_leased = false;
  give_back_resources(entry);
  pool.statistics.ran(entry.own_priority, ran, at);
  if (outcome.succeeded())
    pool.estimates.learn(entry.kind->name, ran, entry.extras == nullptr ? std::nullopt : entry.extras->hint);
  entry.outcome = std::move(outcome);
  want_dispatch(pool);
  // A stop of the executor is none of the job's: where a store keeps it, it is still under way for the next process.
  const bool interrupted = entry.outcome.kind() == JobOutcome::Kind::cancelled && !entry.cancel_requested &&
                           running.thread != nullptr &&
                           CancellationPoint::enter("an attempt outside of a thread");
  const JobStatus end = end_of(entry);
  if (interrupted) {
    entry.decided = end;
    finish_end(entry);
  } else {
    keep_end(entry, end);
  }
}

void JobEngine::record_end(JobEntry& entry) {
  if (journal_.error() != nullptr || abandoned_) return finish_unkept(entry);
  JobRecord record;
  record.kind = JobRecord::Kind::ended;
  record.id = entry.id;
  record.attempt = entry.attempts;
  record.at = wall_time(now());
  record.status = entry.decided;
  record.outcome = entry.outcome;
  if (entry.decided == JobStatus::retrying) record.next_attempt = wall_time(entry.due_at);
  journal_.add(std::move(record));
  entry.store = JobEntry::Store::finished;
  journal_.tell(entry);
}

/// The next process knows nothing of this end, and has the job run again: so it is called neither done nor failed for good.
void JobEngine::finish_unkept(JobEntry& entry) {
  entry.unkept = journal_.error() != nullptr;
  entry.decided = entry.unkept ? JobStatus::failed : JobStatus::cancelled;
  entry.outcome = entry.unkept ? JobOutcome::failure("the store failed before it had the outcome")
                               : JobOutcome::cancelled("the scheduler is gone; the store has the job");
  finish_end(entry);
}

void JobEngine::retry(JobEntry& entry) {
  entry.pool->add_waiting(entry);
  ++waiting_count_;
  entry.status = JobStatus::retrying;
  if (entry.cancel_requested) return end_waiting(entry, JobStatus::cancelled, "cancelled");
  if (entry.due_at <= now()) return make_ready(entry, now());
  if (entry.due_at != Instant::max()) entry.set_alarm(executor(), entry.due_at);
}

void JobEngine::settle(JobEntry& entry) {
  entry.status = entry.decided;
  entry.ended = now();
  entry.pool->statistics.ended(entry.own_priority, entry.status,
                               entry.has_deadline() ? &entry.deadline : nullptr, entry.ended);
  if (entry.status != JobStatus::dead_lettered) entry.work.clear();
  if (entry.first_waiter != nullptr) wake_waiters(entry);
  if (closed_) quiet_.set();
  if (entry.extras == nullptr && !telling_) return retain(entry);
  ended_.push_back(&entry);
  if (!telling_) tell_dependents();
}

/// In a loop, not nested: a chain of dependents may be long.
void JobEngine::tell_dependents() {
  telling_ = true;
  for (std::size_t i = 0; i < ended_.size(); ++i) {
    parent_ended(*ended_[i]);
    retain(*ended_[i]);
  }
  ended_.clear();
  telling_ = false;
}

// ---- ends of jobs that wait

bool JobEngine::cancel(JobEntry& entry) {
  if (is_ended(entry.status) || entry.store == JobEntry::Store::finished) return false;
  entry.cancel_requested = true;
  if (entry.in_thread)
    executor_->cancel(entry.thread_id);
  else if (entry.waits() && entry.store == JobEntry::Store::idle)
    end_waiting(entry, JobStatus::cancelled, "cancelled");
  return true;
}

void JobEngine::end_waiting(JobEntry& entry, JobStatus status, std::string why) {
  if (status == JobStatus::failed)
    entry.outcome = JobOutcome::failure(std::move(why));
  else
    entry.outcome = JobOutcome::cancelled(std::move(why));
  drop_waiting(entry);
  keep_end(entry, status);
}

void JobEngine::drop_waiting(JobEntry& entry) {
  JobPool& pool = *entry.pool;
  entry.clear_alarm();
  if (entry.queued()) {
    if (entry.extras != nullptr && entry.extras->parked != nullptr) {
      JobResource& resource = *entry.extras->parked;
      resource.unpark(entry);
      resource_changed(resource);
    } else {
      pool.queue.remove(entry);
    }
  }
  if (entry.start_due) std::erase(pool.due_starts, &entry);
  if (entry.reserved) {
    pool.unreserve(entry);
    want_dispatch(pool);
  }
  entry.start_due = false;
  unlink_parents(entry);
  pool.remove_waiting(entry);
  --waiting_count_;
  if (submitter_count_ != 0) want_dispatch(pool);
}

// ---- who is told, and what is remembered

void JobEngine::wake_waiters(JobEntry& entry) {
  JobHandle::End* wait = std::exchange(entry.first_waiter, nullptr);
  while (wait != nullptr) std::exchange(wait, wait->next_)->wake_up();
}

void JobEngine::retain(JobEntry& entry) {
  JobList& list = entry.status == JobStatus::dead_lettered ? dead_letters_ : retained_;
  const std::size_t most =
      entry.status == JobStatus::dead_lettered ? options_.dead_letters : options_.retained;
  list.push_back(entry);
  while (list.size() > most) {
    JobEntry& oldest = *list.first();
    if (oldest.next != nullptr) oldest.next->prefetch();
    list.remove(oldest);
    forget(oldest);
  }
}

void JobEngine::record_removal(const JobEntry& entry) {
  if (journal_.error() != nullptr || abandoned_) return;
  JobRecord record;
  record.kind = JobRecord::Kind::removed;
  record.id = entry.id;
  journal_.add(std::move(record));
}

std::vector<JobSummary> JobEngine::dead_letters() const {
  std::vector<JobSummary> letters;
  for (const JobEntry* entry = dead_letters_.first(); entry != nullptr; entry = entry->next)
    letters.push_back(summary_of(*entry));
  return letters;
}

std::vector<JobSummary> JobEngine::drain_dead_letters() {
  std::vector<JobSummary> letters = dead_letters();
  while (!dead_letters_.empty()) {
    JobEntry& entry = *dead_letters_.first();
    dead_letters_.remove(entry);
    forget(entry);
  }
  return letters;
}

bool JobEngine::resubmit(JobId id) {
  JobEntry* const entry = table_.find(id);
  if (entry == nullptr || entry->status != JobStatus::dead_lettered) return false;
  rethrow_store_error();
  refuse_when_closed();
  if (!room_for(*entry->pool, entry->own_priority)) refuse_full(*entry->pool, entry->own_priority);
  dead_letters_.remove(*entry);
  entry->failed_attempts = 0;
  entry->cancel_requested = false;
  if (entry->extras != nullptr) entry->extras->start.reset();
  entry->status = JobStatus::ready;
  entry->pool->add_waiting(*entry);
  ++waiting_count_;
  if (!journal_.durable()) {
    make_ready(*entry, now());
    return true;
  }
  JobRecord record;
  record.kind = JobRecord::Kind::resubmitted;
  record.id = id;
  record.at = wall_time(now());
  journal_.add(std::move(record));
  entry->store = JobEntry::Store::writing;
  journal_.tell(*entry);
  return true;
}

}  // namespace bide
