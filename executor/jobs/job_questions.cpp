// What a scheduler answers: lists, feasibility, and why one job went before another.

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include <bide/executor/jobs/job_engine.hpp>
#include <bide/queue/order.hpp>

namespace bide {

JobSummary JobEngine::summary_of(const JobEntry& entry) const {
  JobSummary summary;
  summary.id = entry.id;
  summary.status = entry.status;
  summary.kind = entry.kind->name;
  summary.pool = entry.pool->name;
  summary.priority = entry.own_priority;
  summary.effective_priority = entry.priority;
  summary.attempts = entry.attempts;
  summary.estimate = entry.estimate;
  summary.submitted = entry.submitted;
  if (entry.has_deadline()) summary.deadline = entry.deadline;
  if (entry.urgency->latest_start != Urgency::none)
    summary.latest_start = Instant(entry.urgency->latest_start);
  if (entry.status == JobStatus::retrying) summary.due = entry.due_at;
  if (entry.status == JobStatus::scheduled) summary.due = entry.extras->start->at;
  if (entry.attempts != 0) summary.started = entry.started;
  if (is_ended(entry.status)) summary.ended = entry.ended;
  summary.outcome = entry.outcome;
  if (entry.extras == nullptr) return summary;
  summary.key = entry.extras->key;
  summary.tenant = entry.extras->tenant;
  summary.labels = entry.extras->labels;
  summary.payload = entry.extras->payload;
  return summary;
}

std::vector<JobSummary> JobEngine::list(const JobFilter& filter) {
  std::vector<JobSummary> found;
  for (const JobEntry* entry : listed(filter)) found.push_back(summary_of(*entry));
  return found;
}

std::vector<const JobEntry*> JobEngine::listed(const JobFilter& filter) {
  using Order = JobFilter::Order;
  std::vector<const JobEntry*> found;
  if (filter.limit == 0 || filter.after == std::numeric_limits<JobId>::max()) return found;
  table_.for_each(filter.after, [&](const JobEntry& entry) {
    const bool fits = (!filter.status || entry.status == *filter.status) &&
                      (filter.pool.empty() || entry.pool->name == filter.pool) &&
                      (filter.kind.empty() || entry.kind->name == filter.kind) &&
                      (filter.tenant.empty() || entry.tenant() == filter.tenant) &&
                      (filter.order != Order::urgency || entry.status == JobStatus::ready) &&
                      (filter.order != Order::deadline || (entry.has_deadline() && is_live(entry.status)));
    if (fits) found.push_back(&entry);
    return filter.order != Order::id || found.size() < filter.limit;
  });
  if (filter.order == Order::id || found.empty()) return found;
  const std::chrono::nanoseconds now = this->now().time_since_epoch();
  const auto goes_first = [&](const JobEntry* left, const JobEntry* right) {
    if (filter.order == Order::urgency)
      return goes_before(rank_of(*left, now, Aging::on), rank_of(*right, now, Aging::on));
    return left->deadline != right->deadline ? left->deadline < right->deadline : left->id < right->id;
  };
  const std::size_t count = std::min(found.size(), filter.limit);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                    goes_first);
  found.resize(count);
  return found;
}

Feasibility JobEngine::feasibility(const Job& job) {
  JobPool& pool = pool_for(job.pool);
  const Instant at = now();
  const Duration estimate = pool.estimates.estimate(job.kind, job.duration_hint).duration;
  const Instant deadline = deadline_of(job, at);
  return pool.feasibility(job.priority, urgency::latest_start(deadline.time_since_epoch(), estimate),
                          estimate, deadline == Instant::max() ? std::nullopt : std::optional(deadline), at);
}

const JobStatistics& JobEngine::statistics(std::string_view name) const {
  const JobPool* const pool = find_pool(name);
  if (pool == nullptr) throw std::invalid_argument("there is no pool '" + std::string(name) + "'");
  return pool->statistics;
}

std::string JobEngine::metrics() {
  const Instant at = now();
  std::vector<PoolMetrics> metrics;
  for (const std::unique_ptr<JobPool>& pool : pools_)
    metrics.push_back({.name = pool->name, .statistics = &pool->statistics, .gauges = pool->gauges(at)});
  PrometheusText text;
  append_metrics(text, metrics, at);
  return text.text();
}

std::vector<PoolState> JobEngine::pool_states() {
  std::vector<PoolState> states;
  const Instant at = executor_ == nullptr ? Instant() : now();
  for (const std::unique_ptr<JobPool>& pool : pools_) states.push_back(pool->state(at));
  return states;
}

std::string JobEngine::explain(JobId earlier, JobId later) const {
  const JobEntry* const first = table_.find(earlier);
  const JobEntry* const second = table_.find(later);
  const auto name = [](JobId id) { return "job " + std::to_string(id); };
  if (first == nullptr) return name(earlier) + " is not known, or was forgotten";
  if (second == nullptr) return name(later) + " is not known, or was forgotten";
  const std::optional<Decision> won = decisions_.won_by(earlier);
  if (!won) {
    if (first->attempts == 0)
      return name(earlier) + " has not been dispatched: it is " + to_string(first->status);
    return "the decision for " + name(earlier) + " is older than the log";
  }
  const std::string when = to_string(won->at.time_since_epoch());
  if (first->pool != second->pool)
    return name(earlier) + " and " + name(later) + " are in different pools, and never compete";
  const std::optional<Decision> other = decisions_.won_by(later);
  if (other && other->number < won->number)
    return "it was the other way round: " + name(later) + " went at " +
           to_string(other->at.time_since_epoch()) + ", " + name(earlier) + " at " + when;
  if (second->submitted > won->at)
    return name(earlier) + " went at " + when + ", when " + name(later) + " had not been submitted";
  if (!other && is_live(second->status) && second->status != JobStatus::ready)
    return name(earlier) + " went at " + when + ", while " + name(later) + " is not even ready: it is " +
           to_string(second->status);
  if (second->own.waiting_since > won->at.time_since_epoch())
    return name(earlier) + " went at " + when + ", when " + name(later) + " was not ready yet";
  Decision asked = *won;
  asked.runner_up = DecisionRing::contender(*second, later, won->at);
  asked.rule =
      won->rule == DecisionRule::fixed_start ? won->rule : rule_between(asked.winner, *asked.runner_up);
  if (second->extras != nullptr && second->extras->parked != nullptr)
    return to_string(asked) + "; " + name(later) + " waits for '" + second->extras->parked->name() + "'";
  return to_string(asked);
}

}  // namespace bide
