#include <bide/executor/jobs/job_scheduler.hpp>

#include <algorithm>
#include <utility>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

JobScheduler::JobScheduler(JobSchedulerOptions options) : engine_(new JobEngine(options)) {}
JobScheduler::~JobScheduler() { engine_->abandon(); }

void JobScheduler::add_pool(std::string name, PoolOptions options) {
  engine_->add_pool(std::move(name), std::move(options));
}
void JobScheduler::resize_pool(std::string_view name, std::size_t workers) {
  engine_->resize_pool(name, workers);
}
void JobScheduler::add_semaphore(std::string name, std::uint64_t permits) {
  engine_->add_resource(std::make_unique<JobResource>(std::move(name), permits));
}
void JobScheduler::add_token_bucket(std::string name, Rate rate, std::uint64_t burst) {
  engine_->add_resource(std::make_unique<JobResource>(std::move(name), rate, burst));
}
void JobScheduler::handle(std::string kind, JobWork work) {
  engine_->handle(std::move(kind), std::move(work));
}
std::size_t JobScheduler::restore() { return engine_->restore(); }

Feasibility JobScheduler::feasibility(const Job& job) const { return engine_->feasibility(job); }

std::optional<JobHandle> JobScheduler::find(JobId id) const {
  JobEntry* const entry = engine_->table().find(id);
  if (entry == nullptr) return std::nullopt;
  return engine_->handle_for(*entry);
}
std::optional<JobHandle> JobScheduler::find(std::string_view key) const {
  JobEntry* const entry = engine_->table().find_key(key);
  if (entry == nullptr) return std::nullopt;
  return engine_->handle_for(*entry);
}
bool JobScheduler::cancel(JobId id) {
  JobEntry* const entry = engine_->table().find(id);
  return entry != nullptr && engine_->cancel(*entry);
}
std::vector<JobSummary> JobScheduler::list(const JobFilter& filter) const { return engine_->list(filter); }
std::optional<JobSummary> JobScheduler::summary(JobId id) const {
  const JobEntry* const entry = engine_->table().find(id);
  if (entry == nullptr) return std::nullopt;
  return engine_->summary_of(*entry);
}
std::vector<JobSummary> JobScheduler::dead_letters() const { return engine_->dead_letters(); }
bool JobScheduler::resubmit(JobId id) { return engine_->resubmit(id); }
std::vector<JobSummary> JobScheduler::drain_dead_letters() { return engine_->drain_dead_letters(); }

std::optional<Lease> JobScheduler::renew(JobId id, std::uint32_t attempt, Duration ttl) {
  return engine_->renew(id, attempt, ttl);
}

void JobScheduler::every(Recurring recurring) { engine_->recurrences().add(std::move(recurring)); }
bool JobScheduler::stop_recurring(std::string_view name) { return engine_->recurrences().remove(name); }
std::vector<RecurringState> JobScheduler::recurring() const { return engine_->recurrences().states(); }

std::vector<PoolState> JobScheduler::pools() const { return engine_->pool_states(); }
std::vector<Decision> JobScheduler::decisions() const { return engine_->decisions().decisions(); }
std::string JobScheduler::explain(JobId earlier, JobId later) const {
  return engine_->explain(earlier, later);
}
ClassStatistics JobScheduler::statistics(std::string_view pool, Priority priority) const {
  return engine_->statistics(pool).total(priority);
}
ClassStatistics JobScheduler::recent_statistics(std::string_view pool, Priority priority) const {
  return engine_->statistics(pool).recent(priority, engine_->now());
}
std::string JobScheduler::metrics() const { return engine_->metrics(); }
WallTime JobScheduler::wall_time(Instant instant) const { return engine_->wall_time(instant); }
Instant JobScheduler::instant(WallTime wall) const { return engine_->instant_of(wall); }

Task<> JobScheduler::shut_down(Shutdown how) { return engine_->shut_down(how); }

// ---- the end

bool JobEngine::busy() const {
  std::size_t busy = thread_count_;
  for (const std::unique_ptr<JobPool>& pool : pools_) busy += pool->running_count;
  return busy != 0;
}

/// Something may still run without an alarm of its own: it is ready, or waits for what can.
bool JobEngine::draining() const {
  bool any = busy();
  table_.for_each(0, [&](const JobEntry& entry) {
    any = any || (is_live(entry.status) && entry.status != JobStatus::scheduled &&
                  (entry.status != JobStatus::blocked || entry.extras->awaited.empty()) &&
                  !(entry.status == JobStatus::ready && entry.pool->workers == 0));
    return !any;
  });
  return any;
}

Task<> JobEngine::shut_down(JobScheduler::Shutdown how) {
  if (abandoned_) co_return;
  closed_ = true;
  recurrences_.clear();
  for (std::unique_ptr<JobPool>& pool : pools_) serve_submitters(*pool);
  while (how == JobScheduler::Shutdown::drain && draining() && journal_.error() == nullptr) {
    quiet_.reset();
    co_await quiet_.wait();
  }
  stopped_ = true;
  for (const std::unique_ptr<JobPool>& pool : pools_) {
    for (JobEntry* entry = pool->running.first(); entry != nullptr; entry = entry->next)
      if (how == JobScheduler::Shutdown::cancel && entry->in_thread) cancel(*entry);
  }
  while (busy() || !journal_.idle()) {
    quiet_.reset();
    co_await quiet_.wait();
  }
  end_what_is_left();
}

/// But for those that the journal has a word for, while it writes: they end when that comes.
void JobEngine::end_what_is_left() {
  abandoned_ = true;
  without_thread_.clear();
  std::vector<JobId> live;
  table_.for_each(0, [&](JobEntry& entry) {
    if (is_live(entry.status)) live.push_back(entry.id);
    return true;
  });
  for (const JobId id : live) {
    JobEntry* const entry = table_.find(id);
    if (entry == nullptr || is_ended(entry->status) || entry->in_thread) continue;
    if (entry->store != JobEntry::Store::idle && !journal_.idle() && !executor_gone_) continue;
    end_left(*entry);
  }
}

/// With a store only here: there it stays, for the next process.
void JobEngine::end_left(JobEntry& entry) {
  entry.decided = JobStatus::cancelled;
  if (entry.waits())
    drop_waiting(entry);
  else if (entry.leased())
    take_back_lease(entry);
  entry.outcome =
      JobOutcome::cancelled(journal_.durable() ? "the scheduler has shut down; the store has the job"
                                               : "the scheduler has shut down");
  finish_end(entry);
}

/// What was written has been told to all who waited for it, unless the executor goes.
void JobEngine::journal_rests() {
  quiet_.set();
  if (!abandoned_) return;
  end_what_is_left();
}

}  // namespace bide
