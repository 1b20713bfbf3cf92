#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <bide/executor/jobs/job_store.hpp>
#include <bide/executor/jobs/sqlite_database.hpp>

namespace bide {

/// The tables of what recurs, in the database of a SqliteJobStore.
class SqliteRecurring {
 public:
  /// What makes them.
  static const char* schema();

  /// Requires: they are there.
  explicit SqliteRecurring(SqliteDatabase& database);

  void add(const StoredRecurring& recurring);
  void reach(const std::string& name, WallTime at, JobId latest);
  void remove(const std::string& name);
  /// By name. Believes nothing: a number that names nothing is damage.
  std::vector<StoredRecurring> read();

 private:
  void read_resources(std::vector<StoredRecurring>& all);
  void read_labels(std::vector<StoredRecurring>& all);
  StoredRecurring& find(std::vector<StoredRecurring>& all, const std::string& name);
  void expect_one(const std::string& name);
  [[noreturn]] void damaged(const std::string& name, const std::string& what) const;
  template <class Enumeration>
  Enumeration enumerator(std::int64_t number, Enumeration last, const StoredRecurring& of, const char* what);
  std::uint32_t small(std::int64_t number, const StoredRecurring& of, const char* what);

  SqliteDatabase& database_;
  SqliteStatement insert_;
  SqliteStatement insert_resource_;
  SqliteStatement insert_label_;
  SqliteStatement reach_;
  SqliteStatement remove_;
};

}  // namespace bide
