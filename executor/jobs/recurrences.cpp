#include <bide/executor/jobs/recurrences.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <bide/executor/jobs/cron.hpp>
#include <bide/executor/jobs/job_engine.hpp>
#include <bide/executor/jobs/job_handle.hpp>
#include <bide/executor/jobs/recurrence.hpp>
#include <bide/executor/jobs/zone.hpp>
#include <bide/executor/timed_call.hpp>

namespace bide {

namespace {

using Time = Recurrence::Time;

constexpr Duration clock_correction = std::chrono::hours(3);

Recurrence recurrence_of(const Recurring& recurring, Time since) {
  const auto wrong = [&](const char* what) {
    return std::invalid_argument("recurring job '" + recurring.name + "': " + what);
  };
  const Job& job = recurring.job;
  if (job.deadline || job.deadline_in || job.start || !job.key.empty() || !job.after.empty())
    throw wrong("the template has a deadline, fixed start, key or dependency of its own");
  if (recurring.interval.has_value() != recurring.cron.empty())
    throw wrong("it has an interval or cron, not both");
  if (!recurring.interval) return Recurrence::by(Cron(recurring.cron, Zone::named(recurring.zone)));
  if (*recurring.interval <= Duration::zero()) throw wrong("the interval is not positive");
  const Duration first = subtract_saturating(since.time_since_epoch(), -*recurring.interval);
  return Recurrence::every(*recurring.interval, Time(first));
}

Time time_of(WallTime wall) { return Time(Duration(wall)); }

// A series and what a store keeps of it call these by the same names.
template <class From, class To>
void copy_series(const From& from, To& to) {
  to.name = from.name;
  to.interval = from.interval;
  to.cron = from.cron;
  to.zone = from.zone;
  to.deadline_after = from.deadline_after;
  to.overlap = from.overlap;
  to.missed = from.missed;
  to.job.kind = from.job.kind;
  to.job.pool = from.job.pool;
  to.job.payload = from.job.payload;
  to.job.priority = from.job.priority;
  to.job.duration_hint = from.job.duration_hint;
  to.job.timeout = from.job.timeout;
  to.job.retry = from.job.retry;
  to.job.resources = from.job.resources;
  to.job.tenant = from.job.tenant;
  to.job.labels = from.job.labels;
}

}  // namespace

class Recurrences::Series final : private TimedCall {
 public:
  Series(JobEngine& engine, Recurring recurring, Time since)
      : engine_(engine),
        recurring_(std::move(recurring)),
        recurrence_(recurrence_of(recurring_, since)),
        stored_(stored_from(since)) {}
  ~Series() { stop(); }

  void begin() {
    keep(JobRecord::Kind::recurs);
    set_next(time_of(stored_->since));
  }

  /// From where the process before has come to.
  void go_on(Time reached, JobId latest) {
    if (JobEntry* const entry = engine_.table().find(latest)) latest_ = engine_.handle_for(*entry);
    const Time now = wall_now();
    if (recurring_.missed == Recurring::Missed::run_late) {
      if (const std::optional<Time> missed = recurrence_.last(reached, now)) {
        next_ = *missed;
        come();
      }
    }
    const bool set_back = reached > now && reached - now < clock_correction;
    set_next(set_back ? reached : now);
  }

  void end() { keep(JobRecord::Kind::recurs_no_more); }

  RecurringState state() const {
    RecurringState state{.recurring = recurring_, .next = std::nullopt, .skipped = skipped_};
    if (armed()) state.next = engine_.instant_of(next_.time_since_epoch().count());
    return state;
  }

 private:
  Time wall_now() const { return time_of(engine_.wall_time(engine_.now())); }

  std::shared_ptr<const StoredRecurring> stored_from(Time since) const {
    auto stored = std::make_shared<StoredRecurring>();
    copy_series(recurring_, *stored);
    stored->since = stored->reached = since.time_since_epoch().count();
    return stored;
  }

  void keep(JobRecord::Kind kind, Time at = {}, JobId id = 0) {
    JobRecord record;
    record.kind = kind;
    record.at = at.time_since_epoch().count();
    record.id = id;
    record.recurring = stored_;
    engine_.keep_recurrence(std::move(record));
  }

  void set_next(Time after) {
    const std::optional<Time> next = recurrence_.next(after);
    if (!next) return;
    next_ = *next;
    const Instant at = engine_.instant_of(next_.time_since_epoch().count());
    if (at == Instant::max()) return;
    arm(engine_.executor(), std::max(at, add_saturating(engine_.now(), Duration(1))));
    engine_.alarm_set();
  }
  void stop() noexcept {
    if (!armed()) return;
    disarm();
    engine_.alarm_cleared();
  }
  void due() noexcept override {
    engine_.alarm_cleared();
    come();
    set_next(std::max(next_, wall_now()));
  }

  /// The time of the occurrence `next_` has come.
  void come() noexcept {
    JobId id = 0;
    try {
      if (submit()) id = latest_->id();
    } catch (const std::exception&) {
      ++skipped_;  // refused: the next one may find room
    }
    // What is left out either way need not be known of: no sync of the disk for each tick of what takes long.
    if (id != 0 || recurring_.missed == Recurring::Missed::run_late)
      keep(JobRecord::Kind::recurred, next_, id);
  }
  bool submit() {
    Job job = recurring_.job;
    job.key = occurrence_key(recurring_.name, next_);
    if (recurring_.deadline_after) {
      const Instant at = engine_.instant_of(next_.time_since_epoch().count());
      job.deadline = add_saturating(at, *recurring_.deadline_after);
    }
    if (latest_ && !latest_->ended()) {
      if (recurring_.overlap == Recurring::Overlap::skip) {
        ++skipped_;
        return false;
      }
      if (recurring_.overlap == Recurring::Overlap::queue)
        job.after.emplace_back(latest_->id(), Dependency::On::completion);
    }
    latest_ = engine_.submit_occurrence(std::move(job));
    return true;
  }

  JobEngine& engine_;
  Recurring recurring_;
  Recurrence recurrence_;
  std::shared_ptr<const StoredRecurring> stored_;
  Time next_{};
  std::optional<JobHandle> latest_;
  std::uint64_t skipped_ = 0;
};

Recurrences::Recurrences(JobEngine& engine) : engine_(engine) {}
Recurrences::~Recurrences() = default;

void Recurrences::add(Recurring recurring) {
  engine_.executor();
  engine_.refuse_when_closed();
  engine_.restore();
  engine_.rethrow_store_error();
  if (series_.find(recurring.name) != series_.end())
    throw std::invalid_argument("recurring job '" + recurring.name + "' is there already");
  engine_.check_template(recurring.job);
  const std::string name = recurring.name;
  const Time now = time_of(engine_.wall_time(engine_.now()));
  auto series = std::make_unique<Series>(engine_, std::move(recurring), now);
  series->begin();
  series_.emplace(name, std::move(series));
}

void Recurrences::restore(const StoredRecurring& stored) {
  Recurring recurring(stored.name, Job());
  copy_series(stored, recurring);
  auto series = std::make_unique<Series>(engine_, std::move(recurring), time_of(stored.since));
  series->go_on(time_of(stored.reached), stored.latest);
  series_.emplace(stored.name, std::move(series));
}

bool Recurrences::remove(std::string_view name) {
  const auto found = series_.find(name);
  if (found == series_.end()) return false;
  found->second->end();
  series_.erase(found);
  return true;
}

void Recurrences::clear() { series_.clear(); }

std::vector<RecurringState> Recurrences::states() const {
  std::vector<RecurringState> states;
  for (const auto& [name, series] : series_) states.push_back(series->state());
  return states;
}

}  // namespace bide
