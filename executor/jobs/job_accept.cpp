// From a Job to an entry that waits: what is refused, who makes room, and where it waits.

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

// ---- what can't be

inline void JobEngine::check(const Job& job) {
  if (!job.work || journal_.durable()) check_work(job);
  if (!job.resources.empty()) check_resources(job);
}

void JobEngine::check_work(const Job& job) {
  if (job.work)
    throw std::invalid_argument("a job of kind '" + job.kind +
                                "' brings work, and a store can keep a payload alone");
  const JobKind* const kind = kinds_.find(job.kind);
  if (kind == nullptr || !kind->handler)
    throw std::invalid_argument("a job of kind '" + job.kind +
                                "' brings no work, and its kind has no handler");
}

void JobEngine::check_resources(const Job& job) const {
  for (const ResourceUse& use : job.resources) {
    const auto found = resources_.find(use.name);
    if (found == resources_.end()) throw std::invalid_argument("there is no resource '" + use.name + "'");
    if (use.count > found->second->most())
      throw std::invalid_argument("resource '" + use.name + "' never has " + std::to_string(use.count) +
                                  " at once");
  }
}

void JobEngine::check_template(const Job& job) {
  pool_for(job.pool);
  check(job);
}

void JobEngine::check_feasible(const Job& job, const JobPool& pool) {
  const Feasibility answer = feasibility(job);
  if (answer.feasible()) return;
  throw JobRefused(JobRefused::Reason::infeasible, "pool '" + pool.name + "': a job of kind '" + job.kind +
                                                       "' would be late by " +
                                                       std::to_string(answer.late_by.count()) + " ns");
}

void JobEngine::refuse_when_closed() const {
  if (closed_)
    throw JobRefused(JobRefused::Reason::closed, "the job scheduler shuts down, or its executor is gone");
}

void JobEngine::refuse_full(const JobPool& pool, Priority priority) const {
  throw JobRefused(JobRefused::Reason::full, "pool '" + pool.name + "' has no room for a job of class " +
                                                 to_string(priority) + ": " +
                                                 std::to_string(pool.waiting_count) + " wait");
}

inline JobEntry* JobEngine::same_key(const Job& job) const {
  return job.key.empty() ? nullptr : table_.find_key(job.key);
}

// ---- room

bool JobEngine::make_room(JobPool& pool, Priority priority) {
  while (!room_for(pool, priority)) {
    JobEntry* const victim = pool.victim(priority);
    if (victim == nullptr) return false;
    end_waiting(*victim, JobStatus::shed, "made room for a job of class " + std::string(to_string(priority)));
  }
  return true;
}

void JobEngine::serve_all_submitters(JobPool& first) {
  serve_submitters(first);
  if (options_.bound == JobBounds::none) return;
  for (std::unique_ptr<JobPool>& other : pools_) serve_submitters(*other);
}

void JobEngine::serve_submitters(JobPool& pool) {
  for (std::size_t c = priority_count; c-- != 0;) {
    WaitList& waits = pool.submitters[c];
    while (!waits.empty() && (closed_ || room_for(pool, static_cast<Priority>(c)))) {
      auto& wait = static_cast<SubmitJob&>(*waits.first);
      waits.remove(wait);
      --submitter_count_;
      wait.its_turn_ = true;
      try {
        if (place(wait.job_, &wait, wait.entry_) == Placed::now) wake(wait);
      } catch (...) {
        fail(wait, std::current_exception());
      }
    }
  }
}

// ---- entries

inline JobEntry& JobEngine::make_entry(Job& job, JobPool& pool, Instant now) {
  JobEntry& entry = table_.make(pool, job.priority);
  try {
    entry.kind = &kinds_.use(job.kind);
    if (JobExtras::needed_for(job)) fill_extras(entry, job);
  } catch (...) {
    if (entry.kind != nullptr) kinds_.let_go(*entry.kind);
    table_.release(entry);
    throw;
  }
  entry.estimate = pool.estimates.estimate(job.kind, job.duration_hint).duration;
  entry.submitted = now;
  set_deadline(entry, deadline_of(job, now));
  entry.id = table_.next_id();
  entry.work = std::move(job.work);
  return entry;
}

void JobEngine::fill_extras(JobEntry& entry, Job& job) {
  JobExtras& more = entry.more();
  more.needs.reserve(job.resources.size());
  for (const ResourceUse& use : job.resources)
    more.needs.push_back({resources_.find(use.name)->second.get(), use.count});
  // What throws has left the job with its owner: from here on nothing does.
  more.payload = std::move(job.payload);
  more.key = std::move(job.key);
  more.tenant = std::move(job.tenant);
  more.labels = std::move(job.labels);
  more.hint = job.duration_hint;
  more.timeout = job.timeout;
  more.start = job.start;
  more.retry = job.retry;
  more.after = std::move(job.after);
}

/// From here on the job is in the table, counts for bounds, and has edges; it moves when the store has it.
/// Requires: the entry is held, since it may end at once.
inline void JobEngine::accept(JobEntry& entry) {
  table_.add(entry);
  entry.pool->add_waiting(entry);
  ++waiting_count_;
  if (entry.extras != nullptr) {
    if (!entry.extras->key.empty()) table_.add_key(entry.extras->key, entry);
    link_parents(entry);
    link_awaiting(entry);
    if (blocked(entry)) entry.status = JobStatus::blocked;
  }
  if (journal_.durable()) [[unlikely]]
    return record_accepted(entry);
  enter(entry);
}

void JobEngine::give_back_job(JobEntry& entry, Job& job) noexcept {
  job.work = std::move(entry.work);
  if (entry.extras == nullptr) return;
  JobExtras& more = *entry.extras;
  job.payload = std::move(more.payload);
  job.key = std::move(more.key);
  job.tenant = std::move(more.tenant);
  job.labels = std::move(more.labels);
  job.after = std::move(more.after);
}

/// What accept has done before it found no memory.
void JobEngine::take_back(JobEntry& entry) noexcept {
  if (!entry.known || !entry.waits()) return;
  drop_waiting(entry);
  if (entry.extras != nullptr) {
    unlink_children(entry);
    table_.forget_key(entry.extras->key, entry);
  }
  table_.forget(entry);
}

void JobEngine::record_accepted(JobEntry& entry) {
  JobRecord record;
  record.id = entry.id;
  record.job = stored(entry);
  journal_.add(std::move(record));
  entry.store = JobEntry::Store::writing;
  journal_.tell(entry);
}

// ---- submit

JobEngine::Placed JobEngine::submit(SubmitJob& wait) {
  executor();
  if (!closed_ && journal_.durable() && !restored_) restore();
  return place(wait.job_, &wait, wait.entry_);
}

JobHandle JobEngine::submit_occurrence(Job job) {
  JobEntry* entry = nullptr;
  place(job, nullptr, entry);
  return JobHandle(*entry, JobHandle::Held());
}

JobEngine::Placed JobEngine::place(Job& job, SubmitJob* wait, JobEntry*& placed) {
  rethrow_store_error();
  refuse_when_closed();
  JobPool& pool = pool_for(job.pool);
  check(job);
  JobEntry* entry = same_key(job);
  if (entry == nullptr) {
    if (!job.after.empty()) check_parents(job, pool);
    if (!job.key.empty()) refuse_cycle(job);
    if (pool.options.infeasible == PoolOptions::Infeasible::refuse) check_feasible(job, pool);
    const bool behind =
        submitter_count_ != 0 && (wait == nullptr || !wait->its_turn_) && pool.waits_for_room(job.priority);
    if (behind || !room_for(pool, job.priority)) {
      if (pool.options.overflow == Overflow::wait && wait != nullptr) {
        pool.submitters[static_cast<std::size_t>(job.priority)].push_back(*wait);
        ++submitter_count_;
        return Placed::waits;
      }
      if (!make_room(pool, job.priority)) refuse_full(pool, job.priority);
    }
    entry = &make_entry(job, pool, now());
    hold(*entry);
    try {
      accept(*entry);
    } catch (...) {
      take_back(*entry);
      give_back_job(*entry, job);
      let_go(*entry);
      throw;
    }
    pool.statistics.submitted(entry->own_priority, entry->submitted);
  } else {
    hold(*entry);
  }
  placed = entry;
  if (wait == nullptr) return Placed::now;
  if (entry->store != JobEntry::Store::writing || !entry->waits()) return Placed::now;
  journal_.tell(*wait);
  return Placed::waits;
}

void JobEngine::enter(JobEntry& entry) {
  if (entry.cancel_requested) return end_waiting(entry, JobStatus::cancelled, "cancelled");
  if (entry.extras == nullptr) return make_ready(entry, now());
  if (entry.extras->doomed)
    return end_waiting(entry, JobStatus::skipped, "a job that it depends on ended otherwise");
  if (!blocked(entry)) return enter_unblocked(entry);
  entry.status = JobStatus::blocked;
  lift_parents_of(entry);
}

void JobEngine::enter_unblocked(JobEntry& entry) {
  if (entry.extras == nullptr || !entry.extras->start) return make_ready(entry, now());
  if (entry.extras->start->at <= now()) return start_is_due(entry);
  entry.status = JobStatus::scheduled;
  entry.pool->reserve(entry);
  entry.set_alarm(executor(), entry.extras->start->at);
}

void JobEngine::make_ready(JobEntry& entry, Instant since) {
  entry.status = JobStatus::ready;
  entry.own.waiting_since = since.time_since_epoch();
  if (entry.urgency != &entry.own) entry.extras->lifted.waiting_since = entry.own.waiting_since;
  entry.sequence = next_sequence_++;
  entry.pool->queue.push(entry);
  want_dispatch(*entry.pool);
}

// ---- fixed starts

void JobEngine::start_is_due(JobEntry& entry) {
  const FixedStart& start = *entry.extras->start;
  const Instant until = add_saturating(start.at, start.tolerance);
  entry.status = JobStatus::ready;
  entry.start_due = true;
  entry.own.waiting_since = start.at.time_since_epoch();
  entry.sequence = next_sequence_++;
  entry.pool->due_starts.push_back(&entry);
  if (start.missed != FixedStart::Missed::run_late) {
    if (until < now()) return start_was_missed(entry);
    if (until != Instant::max()) entry.set_alarm(executor(), until + Duration(1));
  }
  want_dispatch(*entry.pool);
}

void JobEngine::start_was_missed(JobEntry& entry) {
  const bool skips = entry.extras->start->missed == FixedStart::Missed::skip;
  end_waiting(entry, skips ? JobStatus::missed : JobStatus::failed,
              "its fixed start went by without a free worker");
}

}  // namespace bide
