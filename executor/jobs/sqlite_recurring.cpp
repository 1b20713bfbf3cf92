#include <bide/executor/jobs/sqlite_recurring.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace bide {

namespace {

template <class Enumeration>
std::int64_t number_of(Enumeration value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

const char* SqliteRecurring::schema() {
  return R"sql(
CREATE TABLE recurring (
  name TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  interval INTEGER,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  deadline_after INTEGER,
  overlap INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  reached INTEGER NOT NULL,
  latest INTEGER NOT NULL,
  kind TEXT NOT NULL,
  pool TEXT NOT NULL,
  payload BLOB NOT NULL,
  priority INTEGER NOT NULL,
  duration_hint INTEGER,
  timeout INTEGER,
  max_attempts INTEGER NOT NULL,
  initial_backoff INTEGER NOT NULL,
  multiplier_numerator INTEGER NOT NULL,
  multiplier_denominator INTEGER NOT NULL,
  max_backoff INTEGER NOT NULL,
  jitter INTEGER NOT NULL,
  tenant TEXT NOT NULL
) STRICT;
CREATE TABLE recurring_resource (
  recurring TEXT NOT NULL REFERENCES recurring ON DELETE CASCADE,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (recurring, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE recurring_label (
  recurring TEXT NOT NULL REFERENCES recurring ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (recurring, name)
) STRICT, WITHOUT ROWID;
)sql";
}

SqliteRecurring::SqliteRecurring(SqliteDatabase& database)
    : database_(database),
      insert_(database, "INSERT INTO recurring VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      insert_resource_(database, "INSERT INTO recurring_resource VALUES (?,?,?,?)"),
      insert_label_(database, "INSERT INTO recurring_label VALUES (?,?,?)"),
      reach_(database,
             "UPDATE recurring SET reached = ?1, latest = CASE ?2 WHEN 0 THEN latest ELSE ?2 END "
             "WHERE name = ?3"),
      remove_(database, "DELETE FROM recurring WHERE name = ?") {}

void SqliteRecurring::add(const StoredRecurring& recurring) {
  const StoredJob& job = recurring.job;
  insert_.bind_text(recurring.name).bind(recurring.since).bind(recurring.interval);
  insert_.bind_text(recurring.cron).bind_text(recurring.zone).bind(recurring.deadline_after);
  insert_.bind(number_of(recurring.overlap)).bind(number_of(recurring.missed)).bind(recurring.reached);
  insert_.bind(static_cast<std::int64_t>(recurring.latest)).bind_text(job.kind).bind_text(job.pool);
  insert_.bind_bytes(job.payload).bind(number_of(job.priority)).bind(job.duration_hint);
  insert_.bind(job.timeout).bind(std::int64_t{job.retry.max_attempts});
  insert_.bind(job.retry.initial_backoff.count()).bind(std::int64_t{job.retry.multiplier.numerator});
  insert_.bind(std::int64_t{job.retry.multiplier.denominator}).bind(job.retry.max_backoff.count());
  insert_.bind(number_of(job.retry.jitter)).bind_text(job.tenant).run();
  std::int64_t place = 0;
  for (const ResourceUse& use : job.resources) {
    insert_resource_.bind_text(recurring.name).bind(place++).bind_text(use.name);
    insert_resource_.bind(static_cast<std::int64_t>(use.count)).run();
  }
  for (const auto& [name, value] : job.labels)
    insert_label_.bind_text(recurring.name).bind_text(name).bind_text(value).run();
}

void SqliteRecurring::reach(const std::string& name, WallTime at, JobId latest) {
  reach_.bind(at).bind(static_cast<std::int64_t>(latest)).bind_text(name).run();
  expect_one(name);
}

void SqliteRecurring::remove(const std::string& name) {
  remove_.bind_text(name).run();
  expect_one(name);
}

void SqliteRecurring::expect_one(const std::string& name) {
  if (database_.changed() != 1)
    throw SqliteError(database_.path() + ": it has no recurring job '" + name +
                      "' to which something happens");
}

// ---- reading

std::vector<StoredRecurring> SqliteRecurring::read() {
  std::vector<StoredRecurring> all;
  SqliteStatement rows(database_, "SELECT * FROM recurring");
  while (rows.step()) {
    StoredRecurring& one = all.emplace_back();
    StoredJob& job = one.job;
    one.name = rows.bytes();
    one.since = rows.integer();
    one.interval = rows.optional_duration();
    one.cron = rows.bytes();
    one.zone = rows.bytes();
    one.deadline_after = rows.optional_duration();
    one.overlap = enumerator(rows.integer(), Recurring::Overlap::queue, one, "overlap");
    one.missed = enumerator(rows.integer(), Recurring::Missed::run_late, one, "missed");
    one.reached = rows.integer();
    one.latest = static_cast<JobId>(rows.integer());
    job.kind = rows.bytes();
    job.pool = rows.bytes();
    job.payload = rows.bytes();
    job.priority = enumerator(rows.integer(), Priority::critical, one, "priority");
    job.duration_hint = rows.optional_duration();
    job.timeout = rows.optional_duration();
    job.retry.max_attempts = small(rows.integer(), one, "max_attempts");
    job.retry.initial_backoff = Duration(rows.integer());
    job.retry.multiplier.numerator = small(rows.integer(), one, "multiplier_numerator");
    job.retry.multiplier.denominator = small(rows.integer(), one, "multiplier_denominator");
    job.retry.max_backoff = Duration(rows.integer());
    job.retry.jitter = enumerator(rows.integer(), RetryPolicy::Jitter::full, one, "jitter");
    job.tenant = rows.bytes();
  }
  // By bytes, whatever order the database keeps.
  std::sort(all.begin(), all.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  read_resources(all);
  read_labels(all);
  return all;
}

void SqliteRecurring::read_resources(std::vector<StoredRecurring>& all) {
  SqliteStatement rows(database_,
                       "SELECT recurring, name, amount FROM recurring_resource ORDER BY recurring, place");
  while (rows.step()) {
    std::vector<ResourceUse>& resources = find(all, rows.bytes()).job.resources;
    std::string name = rows.bytes();
    resources.emplace_back(std::move(name), static_cast<std::uint64_t>(rows.integer()));
  }
}

void SqliteRecurring::read_labels(std::vector<StoredRecurring>& all) {
  SqliteStatement rows(database_, "SELECT recurring, name, value FROM recurring_label");
  while (rows.step()) {
    auto& labels = find(all, rows.bytes()).job.labels;
    std::string name = rows.bytes();
    labels.emplace(std::move(name), rows.bytes());
  }
}

StoredRecurring& SqliteRecurring::find(std::vector<StoredRecurring>& all, const std::string& name) {
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const auto& one, const std::string& wanted) { return one.name < wanted; });
  if (found == all.end() || found->name != name) damaged(name, "there is no such recurring job");
  return *found;
}

template <class Enumeration>
Enumeration SqliteRecurring::enumerator(std::int64_t number, Enumeration last, const StoredRecurring& of,
                                        const char* what) {
  if (number < 0 || number > static_cast<std::int64_t>(last))
    damaged(of.name, std::string(what) + " is " + std::to_string(number));
  return static_cast<Enumeration>(number);
}

std::uint32_t SqliteRecurring::small(std::int64_t number, const StoredRecurring& of, const char* what) {
  if (number < 0 || number > std::int64_t{UINT32_MAX})
    damaged(of.name, std::string(what) + " is " + std::to_string(number));
  return static_cast<std::uint32_t>(number);
}

void SqliteRecurring::damaged(const std::string& name, const std::string& what) const {
  throw SqliteError(database_.path() + ", recurring job '" + name + "': it is damaged: " + what);
}

}  // namespace bide
