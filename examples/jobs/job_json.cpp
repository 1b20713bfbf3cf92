#include "job_json.hpp"

#include "time_text.hpp"

#include <bide/queue/urgency.hpp>

#include <optional>
#include <string>

namespace bide_jobs {
namespace {

constexpr std::int64_t nanoseconds_each = 1'000'000;

std::int64_t milliseconds(bide::Duration duration) { return duration.count() / nanoseconds_each; }

class Times {
 public:
  explicit Times(const bide::JobScheduler& scheduler) : scheduler_(scheduler) {}
  Json operator()(bide::Instant instant) const { return scheduler_.wall_time(instant) / nanoseconds_each; }
  Json operator()(const std::optional<bide::Instant>& instant) const {
    return instant ? (*this)(*instant) : Json();
  }

 private:
  const bide::JobScheduler& scheduler_;
};

std::string name_of(const bide::JobSummary& summary) {
  const auto label = summary.labels.find("name");
  if (label != summary.labels.end()) return label->second;
  return summary.key.empty() ? summary.kind : summary.key;
}

/// As the scheduler would rank it now, if it has been ready since its submit.
bide::urgency::Score score_of(const bide::JobSummary& summary) {
  bide::Urgency urgency{.latest_start = bide::Urgency::none,
                        .horizon = bide::urgency::horizon(summary.estimate),
                        .waiting_since = summary.submitted.time_since_epoch()};
  if (summary.latest_start) urgency.latest_start = summary.latest_start->time_since_epoch();
  return bide::urgency::score(summary.effective_priority, &urgency, bide::now().time_since_epoch(),
                              bide::Aging::on);
}

std::size_t limit_of(Texts texts) {
  constexpr std::size_t most_brief = 200;
  return texts == Texts::brief ? most_brief : std::string::npos;
}

Json contender_json(const Times& time, const bide::Contender& contender) {
  return {{"id", contender.id},
          {"priority", to_string(contender.priority)},
          {"base", contender.base},
          {"aging", contender.aging},
          {"urgency", contender.urgency},
          {"score", contender.score()},
          {"latest_start", time(contender.latest_start)},
          {"sequence", contender.sequence}};
}

}  // namespace

Json job_json(const bide::JobScheduler& scheduler, const bide::JobSummary& summary, Texts texts) {
  const std::size_t limit = limit_of(texts);
  const Times time(scheduler);
  Json json;
  json["id"] = summary.id;
  json["name"] = name_of(summary);
  json["status"] = to_string(summary.status);
  json["kind"] = summary.kind;
  json["pool"] = summary.pool;
  json["priority"] = to_string(summary.priority);
  json["effective_priority"] = to_string(summary.effective_priority);
  json["key"] = summary.key;
  json["tenant"] = summary.tenant;
  json["labels"] = summary.labels;
  json["command"] = summary.payload.substr(0, limit);
  json["attempts"] = summary.attempts;
  json["estimate_ms"] = milliseconds(summary.estimate);
  json["submitted"] = time(summary.submitted);
  json["deadline"] = time(summary.deadline);
  json["latest_start"] = time(summary.latest_start);
  json["due"] = time(summary.due);
  json["started"] = time(summary.started);
  json["ended"] = time(summary.ended);
  json["score"] = summary.status == bide::JobStatus::ready ? Json(score_of(summary)) : Json();
  json["output"] = summary.outcome.text().substr(0, limit);
  if (summary.deadline && summary.ended)
    json["late_ms"] = milliseconds(bide::subtract_saturating(*summary.ended, *summary.deadline));
  return json;
}

Json decision_json(const bide::JobScheduler& scheduler, const bide::Decision& decision) {
  const Times time(scheduler);
  Json json;
  json["number"] = decision.number;
  json["at"] = time(decision.at);
  json["pool"] = decision.pool;
  json["rule"] = to_string(decision.rule);
  json["winner"] = contender_json(time, decision.winner);
  json["runner_up"] = decision.runner_up ? contender_json(time, *decision.runner_up) : Json();
  return json;
}

Json pool_json(const bide::PoolState& pool) {
  return {{"name", pool.name},
          {"workers", pool.workers},
          {"running", pool.running},
          {"leased", pool.leased},
          {"ready", pool.ready},
          {"waiting", pool.waiting},
          {"reserved", pool.reserved},
          {"submitters", pool.submitters},
          {"longest_wait_ms", milliseconds(pool.longest_wait)}};
}

Json recurring_json(const bide::JobScheduler& scheduler, const bide::RecurringState& state, Texts texts) {
  constexpr const char* overlaps[] = {"skip", "allow", "queue"};
  constexpr const char* misses[] = {"skip", "run_late"};
  const auto time_or_null = [](const std::optional<bide::Duration>& time) {
    return time ? Json(exact_time(*time)) : Json();
  };
  const bide::Recurring& recurring = state.recurring;
  const bide::Job& job = recurring.job;
  Json json;
  json["name"] = recurring.name;
  json["every"] = time_or_null(recurring.interval);
  json["cron"] = recurring.cron;
  json["zone"] = recurring.zone;
  json["overlap"] = overlaps[static_cast<std::size_t>(recurring.overlap)];
  json["missed"] = misses[static_cast<std::size_t>(recurring.missed)];
  json["deadline_after"] = time_or_null(recurring.deadline_after);
  json["command"] = job.payload.substr(0, limit_of(texts));
  json["kind"] = job.kind;
  json["priority"] = to_string(job.priority);
  json["hint"] = time_or_null(job.duration_hint);
  json["timeout"] = time_or_null(job.timeout);
  json["retries"] = job.retry.max_attempts - 1;
  json["tenant"] = job.tenant;
  json["labels"] = job.labels;
  json["next"] = Times(scheduler)(state.next);
  json["skipped"] = state.skipped;
  return json;
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bide_jobs
