#include <bide/executor/jobs/sqlite_job_store.hpp>

#include <algorithm>

#include <bide/executor/jobs/sqlite_recurring.hpp>

namespace bide {

namespace {

constexpr std::int64_t application = 0x62696465;  // "bide"
constexpr std::int64_t schema_version = 2;        // 1 had nothing that recurs

// Ids and counts of 64 bits go into signed integers and come back the same.
constexpr const char* schema = R"sql(
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  submitted INTEGER NOT NULL,
  kind TEXT NOT NULL,
  pool TEXT NOT NULL,
  payload BLOB NOT NULL,
  priority INTEGER NOT NULL,
  deadline INTEGER,
  duration_hint INTEGER,
  timeout INTEGER,
  start_at INTEGER,
  start_tolerance INTEGER NOT NULL,
  start_missed INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  initial_backoff INTEGER NOT NULL,
  multiplier_numerator INTEGER NOT NULL,
  multiplier_denominator INTEGER NOT NULL,
  max_backoff INTEGER NOT NULL,
  jitter INTEGER NOT NULL,
  key TEXT NOT NULL,
  tenant TEXT NOT NULL,
  status INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  failed_attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt INTEGER,
  started INTEGER,
  ended INTEGER,
  outcome_kind INTEGER NOT NULL DEFAULT 0,
  outcome_may_retry INTEGER NOT NULL DEFAULT 0,
  outcome_retry_after INTEGER NOT NULL DEFAULT 0,
  outcome_text BLOB NOT NULL DEFAULT x''
) STRICT;
CREATE UNIQUE INDEX job_by_key ON job (key) WHERE key <> '';
CREATE TABLE dependency (
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  place INTEGER NOT NULL,
  parent_id INTEGER NOT NULL,
  parent_key TEXT NOT NULL,
  condition INTEGER NOT NULL,
  PRIMARY KEY (job, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE resource (
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (job, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE label (
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (job, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE last (id INTEGER NOT NULL) STRICT;
INSERT INTO last VALUES (0);
)sql";

template <class Value>
std::int64_t number(Value value) {
  return static_cast<std::int64_t>(value);
}

std::int64_t number(Duration value) { return value.count(); }

}  // namespace

// In the order in which a job passes them.
class SqliteJobStore::Statements {
 public:
  explicit Statements(SqliteDatabase& database)
      : insert_job(
            database,
            "INSERT INTO job (id, submitted, kind, pool, payload, priority, deadline, duration_hint, "
            "timeout, "
            "start_at, start_tolerance, start_missed, max_attempts, initial_backoff, multiplier_numerator, "
            "multiplier_denominator, max_backoff, jitter, key, tenant, status) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        insert_dependency(database, "INSERT INTO dependency VALUES (?,?,?,?,?)"),
        insert_resource(database, "INSERT INTO resource VALUES (?,?,?,?)"),
        insert_label(database, "INSERT INTO label VALUES (?,?,?)"),
        set_last(database, "UPDATE last SET id = ?"),
        start(database,
              "UPDATE job SET status = ?, attempts = ?, started = ?, next_attempt = NULL WHERE id = ?"),
        end(database,
            "UPDATE job SET status = ?, next_attempt = ?, ended = ?, failed_attempts = failed_attempts + ?, "
            "outcome_kind = ?, outcome_may_retry = ?, outcome_retry_after = ?, outcome_text = ? WHERE id = "
            "?"),
        resubmit(
            database,
            "UPDATE job SET status = ?, next_attempt = NULL, ended = NULL, failed_attempts = 0 WHERE id = ?"),
        remove(database, "DELETE FROM job WHERE id = ?"),
        recurring(database) {}

  SqliteStatement insert_job, insert_dependency, insert_resource, insert_label, set_last;
  SqliteStatement start, end, resubmit, remove;
  SqliteRecurring recurring;
  JobId last_id = 0;
};

SqliteJobStore::SqliteJobStore(const std::string& path) : database_(path) {
  prepare_schema();
  statements_ = std::make_unique<Statements>(database_);
  statements_->last_id = static_cast<JobId>(database_.integer("SELECT id FROM last"));
}

SqliteJobStore::~SqliteJobStore() = default;

// Nothing is written before it is known whose file it is.
void SqliteJobStore::prepare_schema() {
  const std::int64_t owner = database_.integer("PRAGMA application_id");
  const std::int64_t version = database_.integer("PRAGMA user_version");
  const bool empty = database_.integer("SELECT count(*) FROM sqlite_schema") == 0;
  if (owner == application && version == schema_version) {
    database_.write_ahead();
    // Takes the lock for writing, too: a file on which that fails is refused here and not at the first job.
    database_.execute("BEGIN IMMEDIATE; COMMIT");
    return;
  }
  if (owner == application && version > schema_version)
    throw SqliteError(database_.path() + ": its schema has version " + std::to_string(version) +
                      ", written by a newer bide; this one knows versions up to " +
                      std::to_string(schema_version));
  const bool older = owner == application && version == 1;
  if (!older && (!empty || owner != 0 || version != 0))
    throw SqliteError(database_.path() + ": it is the database of another program");
  database_.write_ahead();
  database_.execute("BEGIN IMMEDIATE");
  if (!older) database_.execute(schema);
  database_.execute(SqliteRecurring::schema());
  database_.execute(("PRAGMA application_id = " + std::to_string(application)).c_str());
  database_.execute(("PRAGMA user_version = " + std::to_string(schema_version)).c_str());
  database_.execute("COMMIT");
}

void SqliteJobStore::write(std::span<const JobRecord> batch) {
  if (batch.empty()) return;
  const JobId last_id = statements_->last_id;
  database_.execute("BEGIN IMMEDIATE");
  try {
    for (const JobRecord& record : batch) apply(record);
    if (statements_->last_id != last_id) statements_->set_last.bind(number(statements_->last_id)).run();
    database_.execute("COMMIT");
  } catch (...) {
    statements_->last_id = last_id;
    try {
      database_.execute("ROLLBACK");
    } catch (const SqliteError&) {
      // Some errors have rolled back already; the first one is what matters.
    }
    throw;
  }
}

void SqliteJobStore::apply(const JobRecord& record) {
  Statements& to = *statements_;
  const std::int64_t id = number(record.id);
  switch (record.kind) {
    case JobRecord::Kind::accepted:
      return accept(record.job);
    case JobRecord::Kind::started:
      to.start.bind(number(JobStatus::running)).bind(number(record.attempt)).bind(record.at).bind(id).run();
      return expect_one(record);
    case JobRecord::Kind::ended: {
      // A job may end without an attempt: skipped, missed, cancelled while it waits.
      const bool failed = record.attempt > 0 && record.outcome.kind() == JobOutcome::Kind::failure;
      std::optional<std::int64_t> ended;
      if (is_ended(record.status)) ended = record.at;
      to.end.bind(number(record.status)).bind(record.next_attempt).bind(ended).bind(failed ? 1 : 0);
      to.end.bind(number(record.outcome.kind())).bind(record.outcome.may_retry() ? 1 : 0);
      to.end.bind(number(record.outcome.retry_after())).bind_bytes(record.outcome.text()).bind(id).run();
      return expect_one(record);
    }
    case JobRecord::Kind::resubmitted:
      to.resubmit.bind(number(JobStatus::ready)).bind(id).run();
      return expect_one(record);
    case JobRecord::Kind::removed:
      to.remove.bind(id).run();
      return expect_one(record);
    case JobRecord::Kind::recurs:
      return to.recurring.add(*record.recurring);
    case JobRecord::Kind::recurred:
      return to.recurring.reach(record.recurring->name, record.at, record.id);
    case JobRecord::Kind::recurs_no_more:
      return to.recurring.remove(record.recurring->name);
  }
}

void SqliteJobStore::accept(const StoredJob& job) {
  Statements& to = *statements_;
  const std::int64_t id = number(job.id);
  to.insert_job.bind(id).bind(job.submitted).bind_text(job.kind).bind_text(job.pool).bind_bytes(job.payload);
  to.insert_job.bind(number(job.priority)).bind(job.deadline).bind(job.duration_hint);
  to.insert_job.bind(job.timeout).bind(job.start_at).bind(number(job.start_tolerance));
  to.insert_job.bind(number(job.start_missed)).bind(number(job.retry.max_attempts));
  to.insert_job.bind(number(job.retry.initial_backoff)).bind(number(job.retry.multiplier.numerator));
  to.insert_job.bind(number(job.retry.multiplier.denominator)).bind(number(job.retry.max_backoff));
  to.insert_job.bind(number(job.retry.jitter)).bind_text(job.key).bind_text(job.tenant);
  to.insert_job.bind(number(JobStatus::ready)).run();
  std::int64_t place = 0;
  for (const Dependency& dependency : job.after) {
    to.insert_dependency.bind(id).bind(place++).bind(number(dependency.id)).bind_text(dependency.key);
    to.insert_dependency.bind(number(dependency.on)).run();
  }
  place = 0;
  for (const ResourceUse& use : job.resources)
    to.insert_resource.bind(id).bind(place++).bind_text(use.name).bind(number(use.count)).run();
  for (const auto& [name, value] : job.labels)
    to.insert_label.bind(id).bind_text(name).bind_text(value).run();
  to.last_id = std::max(to.last_id, job.id);
}

void SqliteJobStore::expect_one(const JobRecord& record) {
  if (database_.changed() != 1)
    throw SqliteError(database_.path() + ": it has no job " + std::to_string(record.id) +
                      " to which something happens");
}

}  // namespace bide
