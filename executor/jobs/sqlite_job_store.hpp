#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <bide/executor/jobs/job_store.hpp>
#include <bide/executor/jobs/sqlite_database.hpp>

namespace bide {

/// Jobs in one SQLite file, which this process has for itself while the store lives.
///
///     SqliteJobStore store("jobs.db");
///     JobScheduler scheduler({.store = &store});
///
/// Durable: a batch is one transaction, written ahead and synced before `write` returns: it survives kill -9 at any
///          moment, and the loss of power on disks that do not lie about a sync.
/// File:    beside "jobs.db" lies "jobs.db-wal" while it is open, and after a crash; the two belong together. The schema
///          has a version, and a file of a newer one is refused, as is a database of another program. A file may be read
///          with `sqlite3` while no process has it: enumerations are their numbers, times are nanoseconds.
/// Throws:  SqliteError that names the file, what was tried and what is wrong, from every call.
class SqliteJobStore final : public JobStore {
 public:
  /// Opens the file, or makes it. Blocks. Refused, among others: a file that another process has open, that may not be
  /// written or is damaged.
  explicit SqliteJobStore(const std::string& path);
  ~SqliteJobStore() override;

  /// Reads all; looks the file over for damage first.
  StoredState load() override;
  void write(std::span<const JobRecord> batch) override;

 private:
  class Statements;

  void prepare_schema();
  void apply(const JobRecord& record);
  void accept(const StoredJob& job);
  void expect_one(const JobRecord& record);

  SqliteDatabase database_;
  std::unique_ptr<Statements> statements_;  // goes before the database
};

}  // namespace bide
