#pragma once

#include <string>

#include <bide/executor/jobs/job_store.hpp>
#include <bide/executor/jobs/sqlite_database.hpp>

namespace bide {

/// Reads all jobs that a SqliteJobStore has written. Believes nothing: a number that names nothing is damage.
class SqliteJobReader {
 public:
  explicit SqliteJobReader(SqliteDatabase& database) : database_(database) {}

  StoredState read();

 private:
  void read_jobs();
  StoredState::Entry read_job(SqliteStatement& row);
  void read_dependencies();
  void read_resources();
  void read_labels();
  StoredJob& job(std::int64_t id);
  template <class Enumeration>
  Enumeration enumerator(std::int64_t number, Enumeration last, const char* what);
  std::uint32_t small(std::int64_t number, const char* what);
  [[noreturn]] void damaged(const std::string& what) const;

  SqliteDatabase& database_;
  StoredState state_;
  JobId reading_ = 0;  // the job whose rows are read, for what is said of damage
};

}  // namespace bide
