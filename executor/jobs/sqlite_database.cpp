#include <bide/executor/jobs/sqlite_database.hpp>

#include <sqlite3.h>

namespace bide {

SqliteDatabase::SqliteDatabase(const std::string& path) : path_(path) {
  // No lock of SQLite's own: there is one call at a time.
  constexpr int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  try {
    if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK) fail("open");
    if (sqlite3_db_readonly(database_, "main") == 1)
      throw SqliteError(path_ + ": it may only be read, not written");
    // Exclusive before WAL: the lock then stays with this process, which needs no memory shared with others.
    execute("PRAGMA locking_mode = EXCLUSIVE");
    execute("PRAGMA synchronous = FULL");
    execute("PRAGMA foreign_keys = ON");
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close(database_); }

void SqliteDatabase::write_ahead() {
  if (text("PRAGMA journal_mode = WAL") != "wal")
    throw SqliteError(path_ + ": there is no write-ahead log for it");
}

void SqliteDatabase::execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
}

std::int64_t SqliteDatabase::integer(const char* sql) {
  SqliteStatement statement(*this, sql);
  if (!statement.step()) throw SqliteError(path_ + ": " + sql + ": no answer");
  return statement.integer();
}

std::string SqliteDatabase::text(const char* sql) {
  SqliteStatement statement(*this, sql);
  if (!statement.step()) throw SqliteError(path_ + ": " + sql + ": no answer");
  return statement.bytes();
}

std::int64_t SqliteDatabase::changed() const { return sqlite3_changes(database_); }

void SqliteDatabase::fail(const std::string& tried) const {
  const int code = sqlite3_errcode(database_) & 0xff;  // without the details of an extended code
  std::string message = path_ + ": " + tried + ": " + sqlite3_errmsg(database_);
  if (code == SQLITE_BUSY) message = path_ + ": another process, or another store of this one, has it open";
  if (code == SQLITE_NOTADB) message = path_ + ": it is no SQLite database, or a damaged one";
  throw SqliteError(message);
}

SqliteStatement::SqliteStatement(SqliteDatabase& database, const char* sql) : database_(database) {
  if (sqlite3_prepare_v3(database.database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) !=
      SQLITE_OK)
    database_.fail(sql);
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

SqliteStatement& SqliteStatement::bind(std::int64_t value) {
  if (sqlite3_bind_int64(statement_, ++parameter_, value) != SQLITE_OK) fail();
  return *this;
}

SqliteStatement& SqliteStatement::bind(std::optional<std::int64_t> value) {
  if (value) return bind(*value);
  if (sqlite3_bind_null(statement_, ++parameter_) != SQLITE_OK) fail();
  return *this;
}

SqliteStatement& SqliteStatement::bind(std::optional<Duration> value) {
  return bind(value ? std::optional(std::int64_t{value->count()}) : std::nullopt);
}

SqliteStatement& SqliteStatement::bind_text(std::string_view text) {
  // A null pointer would be NULL, and an empty view may have one.
  const char* const data = text.empty() ? "" : text.data();
  if (sqlite3_bind_text64(statement_, ++parameter_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8) !=
      SQLITE_OK)
    fail();
  return *this;
}

SqliteStatement& SqliteStatement::bind_bytes(std::string_view bytes) {
  const char* const data = bytes.empty() ? "" : bytes.data();
  if (sqlite3_bind_blob64(statement_, ++parameter_, data, bytes.size(), SQLITE_STATIC) != SQLITE_OK) fail();
  return *this;
}

void SqliteStatement::run() {
  if (sqlite3_step(statement_) != SQLITE_DONE) fail();
  reset();
}

bool SqliteStatement::step() {
  column_ = 0;
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) fail();
  reset();
  return false;
}

std::int64_t SqliteStatement::integer() { return sqlite3_column_int64(statement_, column_++); }

std::optional<std::int64_t> SqliteStatement::optional_integer() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
    ++column_;
    return {};
  }
  return integer();
}

std::optional<Duration> SqliteStatement::optional_duration() {
  const std::optional<std::int64_t> nanoseconds = optional_integer();
  if (!nanoseconds) return {};
  return Duration(*nanoseconds);
}

std::string SqliteStatement::bytes() {
  const void* const data = sqlite3_column_blob(statement_, column_);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_++));
  return size == 0 ? std::string() : std::string(static_cast<const char*>(data), size);
}

// What SQLite says is gone after the reset.
void SqliteStatement::fail() {
  try {
    database_.fail(sqlite3_sql(statement_));
  } catch (...) {
    reset();
    throw;
  }
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_);
  parameter_ = 0;
  column_ = 0;
}

}  // namespace bide
