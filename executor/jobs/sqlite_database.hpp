#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <bide/timers/instant.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace bide {

/// Text: the file, what was tried, and what SQLite says.
class SqliteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SqliteStatement;

/// One file, open for this connection alone, and synced at every commit.
///
/// Threads: one call at a time, from any OS thread. Blocks. Throws, each call: SqliteError.
class SqliteDatabase {
 public:
  /// Makes the file if it is not there. The lock is taken at the first statement, and held until the end.
  explicit SqliteDatabase(const std::string& path);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  /// Commits go to a log that is written ahead (WAL) from now on; the file itself says so, also to other programs.
  void write_ahead();

  const std::string& path() const { return path_; }
  void execute(const char* sql);
  std::int64_t integer(const char* sql);
  std::string text(const char* sql);
  /// How many rows the last statement has changed.
  std::int64_t changed() const;

  [[noreturn]] void fail(const std::string& tried) const;

 private:
  friend class SqliteStatement;

  std::string path_;
  sqlite3* database_ = nullptr;
};

/// A statement that is compiled once and run often. Parameters and columns count up by themselves.
///
///     insert.bind(id).bind(name).run();
///     while (select.step()) use(select.integer(), select.text());
class SqliteStatement {
 public:
  SqliteStatement(SqliteDatabase& database, const char* sql);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& bind(std::int64_t value);
  SqliteStatement& bind(std::optional<std::int64_t> value);
  SqliteStatement& bind(std::optional<Duration> value);  ///< As nanoseconds.
  /// The text has to live until the statement has run. Bytes of any kind, zeros too.
  SqliteStatement& bind_text(std::string_view text);
  SqliteStatement& bind_bytes(std::string_view bytes);

  /// Runs it to its end, which gives no row, and makes it ready for other parameters.
  void run();
  /// The next row; none: false, and the statement starts anew.
  bool step();

  std::int64_t integer();
  std::optional<std::int64_t> optional_integer();
  std::optional<Duration> optional_duration();
  std::string bytes();

 private:
  [[noreturn]] void fail();
  void reset();

  SqliteDatabase& database_;
  sqlite3_stmt* statement_ = nullptr;
  int parameter_ = 0;
  int column_ = 0;
};

}  // namespace bide
