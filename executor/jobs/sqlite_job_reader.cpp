#include <bide/executor/jobs/sqlite_job_reader.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <bide/executor/jobs/sqlite_job_store.hpp>
#include <bide/executor/jobs/sqlite_recurring.hpp>

namespace bide {

namespace {

JobOutcome outcome(JobOutcome::Kind kind, bool may_retry, Duration retry_after, std::string text) {
  if (kind == JobOutcome::Kind::success) return JobOutcome::success(std::move(text));
  if (kind == JobOutcome::Kind::cancelled) return JobOutcome::cancelled(std::move(text));
  if (may_retry) return JobOutcome::retryable(std::move(text), retry_after);
  return JobOutcome::failure(std::move(text));
}

}  // namespace

StoredState SqliteJobStore::load() { return SqliteJobReader(database_).read(); }

StoredState SqliteJobReader::read() {
  const std::string found = database_.text("PRAGMA quick_check(1)");
  if (found != "ok") damaged(found);
  state_.last_id = static_cast<JobId>(database_.integer("SELECT id FROM last"));
  read_jobs();
  read_dependencies();
  read_resources();
  read_labels();
  state_.recurring = SqliteRecurring(database_).read();
  return std::move(state_);
}

void SqliteJobReader::read_jobs() {
  SqliteStatement rows(
      database_,
      "SELECT id, submitted, kind, pool, payload, priority, deadline, duration_hint, timeout, "
      "start_at, start_tolerance, start_missed, max_attempts, initial_backoff, multiplier_numerator, "
      "multiplier_denominator, max_backoff, jitter, key, tenant, status, attempts, failed_attempts, "
      "next_attempt, started, ended, outcome_kind, outcome_may_retry, outcome_retry_after, "
      "outcome_text FROM job");
  while (rows.step()) state_.jobs.push_back(read_job(rows));
  // SQLite's integers have a sign, ids have none.
  std::sort(state_.jobs.begin(), state_.jobs.end(),
            [](const auto& left, const auto& right) { return left.job.id < right.job.id; });
}

StoredState::Entry SqliteJobReader::read_job(SqliteStatement& row) {
  StoredState::Entry entry;
  StoredJob& job = entry.job;
  job.id = reading_ = static_cast<JobId>(row.integer());
  job.submitted = row.integer();
  job.kind = row.bytes();
  job.pool = row.bytes();
  job.payload = row.bytes();
  job.priority = enumerator(row.integer(), Priority::critical, "priority");
  job.deadline = row.optional_integer();
  job.duration_hint = row.optional_duration();
  job.timeout = row.optional_duration();
  job.start_at = row.optional_integer();
  job.start_tolerance = Duration(row.integer());
  job.start_missed = enumerator(row.integer(), FixedStart::Missed::fail, "start_missed");
  job.retry.max_attempts = small(row.integer(), "max_attempts");
  job.retry.initial_backoff = Duration(row.integer());
  job.retry.multiplier.numerator = small(row.integer(), "multiplier_numerator");
  job.retry.multiplier.denominator = small(row.integer(), "multiplier_denominator");
  job.retry.max_backoff = Duration(row.integer());
  job.retry.jitter = enumerator(row.integer(), RetryPolicy::Jitter::full, "jitter");
  job.key = row.bytes();
  job.tenant = row.bytes();
  entry.status = enumerator(row.integer(), JobStatus::shed, "status");
  entry.attempts = small(row.integer(), "attempts");
  entry.failed_attempts = small(row.integer(), "failed_attempts");
  entry.next_attempt = row.optional_integer();
  entry.started = row.optional_integer();
  entry.ended = row.optional_integer();
  const auto kind = enumerator(row.integer(), JobOutcome::Kind::cancelled, "outcome_kind");
  const bool may_retry = row.integer() != 0;
  const Duration retry_after(row.integer());
  entry.outcome = outcome(kind, may_retry, retry_after, row.bytes());
  return entry;
}

void SqliteJobReader::read_dependencies() {
  SqliteStatement rows(database_,
                       "SELECT job, parent_id, parent_key, condition FROM dependency ORDER BY job, place");
  while (rows.step()) {
    std::vector<Dependency>& after = job(rows.integer()).after;
    Dependency dependency(static_cast<JobId>(rows.integer()));
    dependency.key = rows.bytes();
    dependency.on = enumerator(rows.integer(), Dependency::On::failure, "condition");
    after.push_back(std::move(dependency));
  }
}

void SqliteJobReader::read_resources() {
  SqliteStatement rows(database_, "SELECT job, name, amount FROM resource ORDER BY job, place");
  while (rows.step()) {
    std::vector<ResourceUse>& resources = job(rows.integer()).resources;
    std::string name = rows.bytes();
    resources.emplace_back(std::move(name), static_cast<std::uint64_t>(rows.integer()));
  }
}

void SqliteJobReader::read_labels() {
  SqliteStatement rows(database_, "SELECT job, name, value FROM label");
  while (rows.step()) {
    auto& labels = job(rows.integer()).labels;
    std::string name = rows.bytes();
    labels.emplace(std::move(name), rows.bytes());
  }
}

StoredJob& SqliteJobReader::job(std::int64_t id) {
  reading_ = static_cast<JobId>(id);
  const auto found = std::lower_bound(state_.jobs.begin(), state_.jobs.end(), reading_,
                                      [](const auto& entry, JobId wanted) { return entry.job.id < wanted; });
  if (found == state_.jobs.end() || found->job.id != reading_) damaged("there is no such job");
  return found->job;
}

template <class Enumeration>
Enumeration SqliteJobReader::enumerator(std::int64_t number, Enumeration last, const char* what) {
  if (number < 0 || number > static_cast<std::int64_t>(last))
    damaged(std::string(what) + " is " + std::to_string(number));
  return static_cast<Enumeration>(number);
}

std::uint32_t SqliteJobReader::small(std::int64_t number, const char* what) {
  if (number < 0 || number > std::int64_t{UINT32_MAX})
    damaged(std::string(what) + " is " + std::to_string(number));
  return static_cast<std::uint32_t>(number);
}

void SqliteJobReader::damaged(const std::string& what) const {
  const std::string where = reading_ == 0 ? "" : ", job " + std::to_string(reading_);
  throw SqliteError(database_.path() + where + ": it is damaged: " + what);
}

}  // namespace bide
