#include <bide/executor/jobs/job_resource.hpp>

#include <algorithm>
#include <stdexcept>

#include <bide/executor/jobs/job_engine.hpp>

namespace bide {

JobResource::JobResource(std::string name, Rate rate, std::uint64_t burst)
    : name_(std::move(name)), most_(burst), rate_(rate) {
  if (rate.count == 0 || rate.per <= Duration::zero() || burst == 0)
    throw std::invalid_argument("token bucket '" + name_ + "': rate and burst are positive");
  level_ = Level{burst} * static_cast<std::uint64_t>(rate.per.count());
}

JobResource::Level JobResource::level_at(Instant now) const {
  const Level full = Level{most_} * static_cast<std::uint64_t>(rate_->per.count());
  if (filled_at_ == Instant::min() || now <= filled_at_) return level_;
  const auto passed = static_cast<std::uint64_t>(subtract_saturating(now, filled_at_).count());
  return std::min(full, level_ + Level{rate_->count} * passed);
}

std::uint64_t JobResource::available(Instant now) const {
  if (!rate_) return permits_;
  return static_cast<std::uint64_t>(level_at(now) / static_cast<std::uint64_t>(rate_->per.count()));
}

void JobResource::take(std::uint64_t count, Instant now) {
  if (!rate_) {
    permits_ -= count;
    return;
  }
  level_ = level_at(now) - Level{count} * static_cast<std::uint64_t>(rate_->per.count());
  filled_at_ = now;
}

void JobResource::give_back(std::uint64_t count) {
  if (!rate_) permits_ += count;
}

void JobResource::park(JobEntry& entry) {
  parked_.push_in_place(entry);
  entry.extras->parked = this;
}

void JobResource::unpark(JobEntry& entry) {
  parked_.remove(entry);
  entry.extras->parked = nullptr;
}

JobEntry* JobResource::first_parked(Instant now) {
  return static_cast<JobEntry*>(const_cast<QueueNode*>(parked_.peek(now.time_since_epoch())));
}

std::optional<Instant> JobResource::ready_at(std::uint64_t count, Instant now) const {
  const Level wanted = Level{count} * static_cast<std::uint64_t>(rate_->per.count());
  const Level level = level_at(now);
  if (level >= wanted) return now;
  const Level wait = (wanted - level + rate_->count - 1) / rate_->count;
  if (wait > static_cast<std::uint64_t>(Duration::max().count())) return std::nullopt;
  const Instant at = add_saturating(now, Duration(static_cast<std::int64_t>(wait)));
  return at == Instant::max() ? std::nullopt : std::optional(at);
}

void JobResource::wake_for(JobEngine& engine, Executor& executor, std::uint64_t count, Instant now) {
  if (!rate_) return;
  engine_ = &engine;
  if (armed()) {
    disarm();
    engine.alarm_cleared();
  }
  const std::optional<Instant> at = ready_at(count, now);
  if (!at || *at <= now) return;
  arm(executor, *at);
  engine.alarm_set();
}

void JobResource::due() noexcept {
  engine_->alarm_cleared();
  engine_->resource_changed(*this);
}

}  // namespace bide
