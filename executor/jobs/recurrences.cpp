#include <bide/executor/jobs/recurrences.hpp>

#include <stdexcept>
#include <utility>

#include <bide/executor/jobs/cron.hpp>
#include <bide/executor/jobs/job_engine.hpp>
#include <bide/executor/jobs/zone.hpp>

namespace bide {

namespace {

Recurrence recurrence_of(const Recurring& recurring, Recurrence::Time now) {
  const auto wrong = [&](const char* what) {
    return std::invalid_argument("recurring job '" + recurring.name + "': " + what);
  };
  const Job& job = recurring.job;
  if (job.deadline || job.start || !job.key.empty() || !job.after.empty())
    throw wrong("the template has a deadline, fixed start, key or dependency of its own");
  if (recurring.interval.has_value() != recurring.cron.empty())
    throw wrong("it has an interval or cron, not both");
  if (!recurring.interval) return Recurrence::by(Cron(recurring.cron, Zone::named(recurring.zone)));
  if (*recurring.interval <= Duration::zero()) throw wrong("the interval is not positive");
  return Recurrence::every(*recurring.interval, now + *recurring.interval);
}

}  // namespace

class Recurrences::Series final : private TimedCall {
 public:
  Series(JobEngine& engine, Recurring recurring, Recurrence recurrence)
      : engine_(engine), recurring_(std::move(recurring)), recurrence_(std::move(recurrence)) {}
  ~Series() { stop(); }

  void set_next(Recurrence::Time after) {
    const std::optional<Recurrence::Time> next = recurrence_.next(after);
    if (!next) return;
    next_ = *next;
    const Instant at = engine_.instant_of(next_.time_since_epoch().count());
    if (at == Instant::max()) return;
    arm(engine_.executor(), std::max(at, add_saturating(engine_.now(), Duration(1))));
    engine_.alarm_set();
  }
  std::uint64_t skipped() const { return skipped_; }

 private:
  void stop() noexcept {
    if (!armed()) return;
    disarm();
    engine_.alarm_cleared();
  }
  void due() noexcept override {
    engine_.alarm_cleared();
    try {
      submit();
    } catch (const std::exception&) {
      ++skipped_;  // refused: the next one may find room
    }
    set_next(next_);
  }
  void submit() {
    Job job = recurring_.job;
    job.key = occurrence_key(recurring_.name, next_);
    if (recurring_.deadline_after) {
      const Instant at = engine_.instant_of(next_.time_since_epoch().count());
      job.deadline = add_saturating(at, *recurring_.deadline_after);
    }
    if (latest_ && !latest_->ended()) {
      if (recurring_.overlap == Recurring::Overlap::skip) {
        ++skipped_;
        return;
      }
      if (recurring_.overlap == Recurring::Overlap::queue)
        job.after.emplace_back(latest_->id(), Dependency::On::completion);
    }
    latest_ = engine_.handle_for(*engine_.submit_occurrence(std::move(job)));
  }

  JobEngine& engine_;
  Recurring recurring_;
  Recurrence recurrence_;
  Recurrence::Time next_{};
  std::optional<JobHandle> latest_;
  std::uint64_t skipped_ = 0;
};

Recurrences::Recurrences(JobEngine& engine) : engine_(engine) {}
Recurrences::~Recurrences() = default;

void Recurrences::add(Recurring recurring) {
  if (series_.find(recurring.name) != series_.end())
    throw std::invalid_argument("recurring job '" + recurring.name + "' is there already");
  const Recurrence::Time now{Duration(engine_.wall_time(engine_.now()))};
  Recurrence recurrence = recurrence_of(recurring, now);
  const std::string name = recurring.name;
  auto series = std::make_unique<Series>(engine_, std::move(recurring), std::move(recurrence));
  series->set_next(now);
  series_.emplace(name, std::move(series));
}

bool Recurrences::remove(std::string_view name) {
  const auto found = series_.find(name);
  if (found == series_.end()) return false;
  series_.erase(found);
  return true;
}

void Recurrences::clear() { series_.clear(); }

std::uint64_t Recurrences::skipped(std::string_view name) const {
  const auto found = series_.find(name);
  return found == series_.end() ? 0 : found->second->skipped();
}

}  // namespace bide
