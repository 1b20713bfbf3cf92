#include <bide/executor/jobs/job_engine.hpp>

#include <algorithm>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace bide {

namespace {

Duration horizon(const JobPool& pool) {
  return std::max(pool.options.autoscale->reservation_horizon, Duration::zero());
}

}  // namespace

JobEngine::JobEngine(JobSchedulerOptions options)
    : options_(options),
      epoch_(options.epoch),
      random_(options.seed),
      table_((JobId{options.shard} << 56U) + (JobId{options.id_epoch} << 40U)),
      decisions_(options.decisions),
      journal_(*this, options.store),
      recurrences_(*this) {
  pools_.push_back(std::make_unique<JobPool>(*this, "default", PoolOptions{}));
}

JobEngine::~JobEngine() {
  std::vector<JobEntry*> left;
  table_.for_each(0, [&](JobEntry& entry) {
    left.push_back(&entry);
    return true;
  });
  for (JobEntry* entry : left) {
    table_.forget(*entry);
    release(*entry);
  }
}

void JobEngine::find_executor() {
  Executor& found = Executor::current();
  attach(found);
  executor_ = &found;
  if (epoch_) return;
  epoch_ = 0;
  if (executor_->options().time != TimeMode::real_time) return;
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  epoch_ =
      wall.tv_sec * std::int64_t{1'000'000'000} + wall.tv_nsec - executor_->now().time_since_epoch().count();
}

WallTime JobEngine::wall_time(Instant instant) {
  if (!epoch_) executor();
  return add_saturating(instant, Duration(*epoch_)).time_since_epoch().count();
}

Instant JobEngine::instant_of(WallTime wall) {
  if (!epoch_) executor();
  return Instant(subtract_saturating(Duration(wall), Duration(*epoch_)));
}

// ---- set-up

void JobEngine::add_pool(std::string name, PoolOptions options) {
  if (options.autoscale && options.autoscale->min_workers > options.autoscale->max_workers)
    throw std::invalid_argument("pool '" + name + "': more workers at least than at most");
  for (std::unique_ptr<JobPool>& pool : pools_) {
    if (pool->name != name) continue;
    if (name != "default" || pool->used) throw std::invalid_argument("pool '" + name + "' is there already");
    last_pool_ = nullptr;
    pool = std::make_unique<JobPool>(*this, std::move(name), std::move(options));
    pool->used = true;
    return;
  }
  pools_.push_back(std::make_unique<JobPool>(*this, std::move(name), std::move(options)));
  pools_.back()->used = true;
}

const JobPool* JobEngine::find_pool(std::string_view name) const {
  for (const std::unique_ptr<JobPool>& pool : pools_)
    if (pool->name == name) return pool.get();
  return nullptr;
}

JobPool& JobEngine::other_pool(std::string_view name) {
  const JobPool* const found = find_pool(name);
  if (found == nullptr) throw std::invalid_argument("there is no pool '" + std::string(name) + "'");
  last_pool_ = const_cast<JobPool*>(found);
  last_pool_->used = true;
  return *last_pool_;
}

void JobEngine::resize_pool(std::string_view name, std::size_t workers) {
  JobPool& pool = pool_for(name);
  pool.workers = workers;
  if (executor_ != nullptr) want_dispatch(pool);
}

void JobEngine::add_resource(std::unique_ptr<JobResource> resource) {
  const std::string name = resource->name();
  if (!resources_.emplace(name, std::move(resource)).second)
    throw std::invalid_argument("resource '" + name + "' is there already");
}

// ---- lifetime

void JobEngine::abandon() {
  closed_ = stopped_ = abandoned_ = true;
  recurrences_.clear();
  for (std::unique_ptr<JobPool>& pool : pools_) {
    serve_submitters(*pool);
    if (pool->scale_timer != nullptr) pool->scale_timer->clear();
    for (JobEntry* entry = pool->running.first(); entry != nullptr; entry = entry->next) {
      entry->cancel_requested = true;
      if (entry->in_thread) executor_->cancel(entry->thread_id);
    }
  }
  end_what_is_left();
  let_go();
}

// ---- alarms: a thread lives while one is set, so that a run does not end before it

void JobEngine::alarm_set() {
  ++alarms_;
  if (!keeper_lives_) keep_running_for_alarms();
}

void JobEngine::keep_running_for_alarms() {
  Task<> keeper = keep_running();
  keeper_lives_ =
      executor().try_submit(keeper, {.name = "jobs to come", .priority = Priority::normal}).has_value();
  if (!keeper_lives_) ask_for_room();
}

void JobEngine::alarm_cleared() noexcept {
  if (--alarms_ == 0) no_alarms_.set();
}

Task<> JobEngine::keep_running() {
  class Keeper {
   public:
    explicit Keeper(JobEngine& engine) : engine_(engine) { engine_.hold(); }
    ~Keeper() {
      engine_.keeper_lives_ = false;
      engine_.let_go();
    }

   private:
    JobEngine& engine_;
  };
  const Keeper keeper(*this);
  while (alarms_ != 0) {
    no_alarms_.reset();
    co_await no_alarms_.wait();
  }
}

void JobEngine::alarm_due(JobEntry& entry) noexcept {
  if (entry.store != JobEntry::Store::idle) return;
  if (entry.leased()) {
    attempt_ended(entry, JobOutcome::retryable("the lease has run out"));
  } else if (entry.status == JobStatus::retrying) {
    if (entry.cancel_requested) return end_waiting(entry, JobStatus::cancelled, "cancelled");
    make_ready(entry, now());
  } else if (entry.status == JobStatus::scheduled) {
    start_is_due(entry);
  } else if (entry.start_due) {
    start_was_missed(entry);
  }
}

void JobEngine::resource_changed(JobResource& resource) noexcept {
  if (abandoned_) return;  // nothing goes on, and its executor may be gone
  const Instant at = now();
  std::uint64_t free = resource.available(at);
  for (JobEntry* entry = resource.first_parked(at); entry != nullptr; entry = resource.first_parked(at)) {
    const std::uint64_t wanted = need_of(*entry, resource);
    if (wanted > free) {
      resource.wake_for(*this, executor(), wanted, at);
      return;
    }
    free -= wanted;
    resource.unpark(*entry);
    entry->pool->queue.push(*entry);
    want_dispatch(*entry->pool);
  }
}

// ---- the executor as its host

void JobEngine::room_came() {
  for (JobEntry* entry : std::exchange(without_thread_, {})) start_kept(*entry);
  if (alarms_ != 0 && !keeper_lives_) keep_running_for_alarms();
  journal_.go_on();
  for (const std::unique_ptr<JobPool>& pool : pools_) want_dispatch(*pool);
}

void JobEngine::executor_goes() noexcept {
  latest_ = executor_->now();
  executor_gone_ = closed_ = stopped_ = abandoned_ = true;
}

// ---- autoscaling

void JobEngine::autoscale(JobPool& pool, Instant now) {
  Autoscaler& autoscaler = *pool.autoscaler;
  if (now < autoscaler.due()) return;
  const Autoscaler::Decision decision = autoscaler.decide(pool.load(now), now);
  pool.workers = decision.workers;
  if (pool.scale_timer == nullptr) pool.scale_timer = std::make_unique<ScaleTimer>(*this, pool);
  // A settled pool is left alone until something happens to it, so that a job that hangs is told as a deadlock and
  // not waited for in virtual time without end. A fixed start is announced by its reservation.
  Instant next = autoscaler.due();
  if (decision.settled) {
    const auto later = [&](const auto& item) { return item.first > add_saturating(now, horizon(pool)); };
    const auto coming = std::find_if(pool.reservations.begin(), pool.reservations.end(), later);
    next = coming == pool.reservations.end() ? Instant::max() : add_saturating(coming->first, -horizon(pool));
  }
  pool.scale_timer->clear();
  if (next != Instant::max() && !stopped_) pool.scale_timer->set(executor(), next);
}

void JobEngine::scale_is_due(JobPool& pool) { want_dispatch(pool); }

void ScaleTimer::set(Executor& executor, Instant at) { arm(executor, at); }
void ScaleTimer::due() noexcept { engine_.scale_is_due(pool_); }

}  // namespace bide
