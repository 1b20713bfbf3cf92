// What goes to the store and comes back: a job as a record, and the queue of the process before this one.

#include <stdexcept>
#include <utility>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

StoredJob JobEngine::stored(const JobEntry& entry) {
  StoredJob job;
  job.id = entry.id;
  job.submitted = wall_time(entry.submitted);
  job.kind = entry.kind->name;
  job.pool = entry.pool->name;
  job.priority = entry.own_priority;
  if (entry.has_deadline()) job.deadline = wall_time(entry.deadline);
  if (entry.extras == nullptr) return job;
  const JobExtras& more = *entry.extras;
  job.payload = more.payload;
  job.duration_hint = more.hint;
  job.timeout = more.timeout;
  if (more.start) {
    job.start_at = wall_time(more.start->at);
    job.start_tolerance = more.start->tolerance;
    job.start_missed = more.start->missed;
  }
  job.retry = more.retry;
  job.after = more.after;
  for (const JobExtras::Need& need : more.needs)
    job.resources.emplace_back(need.resource->name(), need.count);
  job.key = more.key;
  job.tenant = more.tenant;
  job.labels = more.labels;
  return job;
}

std::size_t JobEngine::restore() {
  executor();
  if (restored_ || options_.store == nullptr) return 0;
  StoredState state = options_.store->load();
  restored_ = true;
  table_.skip_to(state.last_id);
  std::vector<JobEntry*> live;
  for (StoredState::Entry& stored : state.jobs) restore_one(stored);
  table_.for_each(0, [&](JobEntry& entry) {
    if (is_live(entry.status)) live.push_back(&entry);
    return true;
  });
  // Edges need both ends, so they are drawn when all are there.
  for (JobEntry* entry : live) {
    if (entry->extras == nullptr) continue;
    link_parents(*entry);
    entry->extras->doomed =
        false;  // a parent that is not known any more had ended well, or this had been skipped
    for (const Dependency& dependency : entry->extras->after) {
      const JobEntry* const parent = find_parent(dependency);
      if (parent != nullptr && is_ended(parent->status))
        entry->extras->doomed |= !satisfied(dependency.on, parent->status);
    }
  }
  for (JobEntry* entry : live) {
    if (entry->status == JobStatus::retrying && entry->due_at > now())
      entry->set_alarm(executor(), entry->due_at);
    else
      enter(*entry);
  }
  // Occurrences come after all that was there before them.
  for (const StoredRecurring& stored : state.recurring) recurrences_.restore(stored);
  return live.size();
}

void JobEngine::restore_one(StoredState::Entry& stored) {
  StoredJob& job = stored.job;
  const JobPool* const pool = find_pool(job.pool);
  if (pool == nullptr)
    throw std::invalid_argument("job " + std::to_string(job.id) + " of the store is for pool '" + job.pool +
                                "', which is not there");
  JobEntry& entry = table_.make(const_cast<JobPool&>(*pool), job.priority);
  entry.pool->used = true;
  entry.kind = &kinds_.use(job.kind);
  entry.id = job.id;
  table_.skip_to(job.id);  // whatever the store says of the last one: an id is given once
  entry.estimate = entry.pool->estimates.estimate(job.kind, job.duration_hint).duration;
  entry.submitted = instant_of(job.submitted);
  set_deadline(entry, job.deadline ? instant_of(*job.deadline) : Instant::max());
  Job rest;
  rest.payload = std::move(job.payload);
  rest.key = std::move(job.key);
  rest.tenant = std::move(job.tenant);
  rest.labels = std::move(job.labels);
  rest.duration_hint = job.duration_hint;
  rest.timeout = job.timeout;
  if (job.start_at) rest.start = FixedStart{instant_of(*job.start_at), job.start_tolerance, job.start_missed};
  rest.retry = job.retry;
  rest.after = std::move(job.after);
  for (const ResourceUse& use : job.resources)
    if (resources_.find(use.name) != resources_.end()) rest.resources.push_back(use);
  if (JobExtras::needed_for(rest)) fill_extras(entry, rest);
  entry.attempts = stored.attempts;
  entry.failed_attempts = stored.failed_attempts;
  entry.outcome = std::move(stored.outcome);
  if (stored.started) entry.started = instant_of(*stored.started);
  if (stored.ended) entry.ended = instant_of(*stored.ended);
  entry.status = stored.status == JobStatus::running ? JobStatus::ready : stored.status;
  table_.add(entry);
  if (entry.extras != nullptr && !entry.extras->key.empty()) table_.add_key(entry.extras->key, entry);
  if (is_ended(entry.status)) return retain(entry);
  entry.pool->add_waiting(entry);
  ++waiting_count_;
  if (stored.next_attempt) entry.due_at = instant_of(*stored.next_attempt);
}

// ---- called by the journal

void JobEngine::kept(JobEntry& entry) {
  const bool finished = entry.store == JobEntry::Store::finished;
  entry.store = JobEntry::Store::idle;
  if (finished) return finish_end(entry);
  if (abandoned_) return end_left(entry);
  if (entry.status != JobStatus::running) return enter(entry);
  if (entry.leased()) {
    if (entry.due_at <= now()) return alarm_due(entry);
    if (entry.due_at != Instant::max()) entry.set_alarm(executor(), entry.due_at);
  } else {
    start_kept(entry);
  }
}

/// The store knows of the attempt: without room for its thread it counts as running, and begins later.
void JobEngine::start_kept(JobEntry& entry) {
  if (entry.cancel_requested || stopped_) {
    entry.cancel_requested = true;
    attempt_ended(entry, JobOutcome::cancelled("cancelled"));
  } else if (!start_thread(entry)) {
    without_thread_.push_back(&entry);
  }
}

/// The store has failed: what it was to keep has not happened, and nothing goes on.
void JobEngine::not_kept(JobEntry& entry) {
  const bool finished = entry.store == JobEntry::Store::finished;
  entry.store = JobEntry::Store::idle;
  entry.unkept = true;
  stopped_ = true;
  quiet_.set();
  if (finished) {
    if (entry.decided == JobStatus::retrying) entry.decided = JobStatus::failed;
    entry.outcome = JobOutcome::failure("the store failed before it had the outcome");
    if (entry.decided == JobStatus::succeeded) entry.decided = JobStatus::failed;
    return finish_end(entry);
  }
  if (entry.waits()) {
    drop_waiting(entry);
  } else {
    entry.pool->running.remove(entry);
    --(entry.leased() ? entry.pool->leased_count : entry.pool->running_count);
    entry.is_leased = false;
    entry.status = JobStatus::ready;
  }
  entry.outcome = JobOutcome::failure("the store failed");
  entry.decided = JobStatus::failed;
  settle(entry);
}

}  // namespace bide
