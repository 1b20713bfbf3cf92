// Attempts by workers outside of the process: given, held, reported, lost.

#include <utility>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

void JobEngine::fill_lease(Lease& lease, const JobEntry& entry) {
  lease.id = entry.id;
  lease.attempt = entry.attempts;
  lease.kind = entry.kind->name;
  if (entry.extras != nullptr) lease.payload = entry.extras->payload;
  lease.until = entry.due_at;
  if (entry.has_deadline()) lease.deadline = entry.deadline;
  lease.cancel_requested = entry.cancel_requested;
}

JobEngine::Placed JobEngine::lease(TakeLease& wait) {
  executor();
  rethrow_store_error();
  if (!stopped_ && journal_.durable() && !restored_) restore();
  JobPool& pool = pool_for(wait.pool_);
  if (stopped_) return Placed::now;
  const Instant at = now();
  JobEntry* entry = next_due_start(pool);
  if (entry != nullptr)
    note_decision(pool, *entry, DecisionRule::fixed_start, at);
  else
    entry = next_job(pool, at);
  if (entry == nullptr) return Placed::now;
  begin_attempt(*entry, at);
  ++pool.leased_count;
  entry->is_leased = true;
  entry->due_at = add_saturating(at, std::max(wait.ttl_, Duration(1)));
  wait.entry_ = entry;
  serve_after_dispatch(pool);
  if (journal_.durable()) [[unlikely]] {
    hold(*entry);
    wait.holds_entry_ = true;
    journal_.tell(*entry);
    journal_.tell(wait);
    return Placed::waits;
  }
  if (entry->due_at != Instant::max()) entry->set_alarm(executor(), entry->due_at);
  return Placed::now;
}

JobEngine::Placed JobEngine::report(ReportLease& wait) {
  executor();
  rethrow_store_error();
  JobEntry* const entry = table_.find(wait.id_);
  if (entry == nullptr) {
    wait.answer_ = Reported::unknown;
    return Placed::now;
  }
  entry->prefetch();
  if (!held(*entry, wait.attempt_)) {
    wait.answer_ = Reported::stale;
    return Placed::now;
  }
  attempt_ended(*entry, std::move(wait.outcome_));
  if (!journal_.durable()) return Placed::now;
  journal_.tell(wait);
  return Placed::waits;
}

/// Who was given this attempt may report and renew; while the store writes, nobody has been given it yet, or it has ended.
bool JobEngine::held(const JobEntry& entry, std::uint32_t attempt) const {
  return entry.leased() && entry.attempts == attempt && entry.store == JobEntry::Store::idle && !abandoned_;
}

/// Its holder is told with the next word of it: `stale`.
void JobEngine::take_back_lease(JobEntry& entry) {
  entry.clear_alarm();
  entry.is_leased = false;
  --entry.pool->leased_count;
  give_back_resources(entry);
}

std::optional<Lease> JobEngine::renew(JobId id, std::uint32_t attempt, Duration ttl) {
  JobEntry* const entry = table_.find(id);
  if (entry == nullptr || !held(*entry, attempt)) return std::nullopt;
  entry->clear_alarm();
  entry->due_at = add_saturating(now(), std::max(ttl, Duration(1)));
  if (entry->due_at != Instant::max()) entry->set_alarm(executor(), entry->due_at);
  std::optional<Lease> lease(std::in_place);
  fill_lease(*lease, *entry);
  return lease;
}

}  // namespace bide
