#pragma once

#include <bide/executor/jobs/job_scheduler.hpp>
#include <bide/executor/jobs/job_store.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/task.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

namespace bide_jobs {

/// The database's jobs. Throws: InputError.
std::unique_ptr<bide::JobStore> open_store(const std::string& database);
bide::StoredState load_store(bide::JobStore& store);

/// A JobScheduler whose jobs are commands, whatever their kind; in memory, or over a database.
class Worker {
 public:
  static constexpr std::size_t most_client_kinds = 10'000;

  struct Options {
    std::size_t workers = 1;
    std::string database;         // empty: in memory
    std::size_t queue = 100'000;  // jobs that may wait; more are refused
    std::size_t decisions = 1'024;
    std::size_t retained =
        10'000;  // ended jobs that are remembered, and as many dead letters; then the oldest go
    std::map<std::string, std::uint32_t> tenant_weights;  // empty: tenants don't matter
  };

  /// Throws: InputError for a database that can't be used; so does `restore`.
  explicit Worker(const Options& options);

  bide::JobScheduler& scheduler() { return *scheduler_; }
  /// The commands of jobs of this kind can run from now on.
  void know(const std::string& kind);
  /// The same for a kind that a client names. Returns: false, clients have brought `most_client_kinds` already.
  bool know_from_client(const std::string& kind);
  /// Restores what the database has, awaits `body(group)` with all that it submits to the group, and shuts down whatever
  /// ended that. Throws: what they threw.
  bide::Task<> run(std::function<bide::Task<>(bide::TaskGroup&)> body);
  /// Takes no more jobs, kills the commands that run, and returns when they have ended. With a database the next process
  /// runs them again: that they were cancelled is not written down.
  bide::Task<> shut_down();

 private:
  /// Kinds are found out as the store is read, before their jobs are queued.
  class Store final : public bide::JobStore {
   public:
    Store(std::unique_ptr<bide::JobStore> inner, Worker& worker)
        : inner_(std::move(inner)), worker_(worker) {}
    bide::StoredState load() override;
    void write(std::span<const bide::JobRecord> batch) override;
    /// From now on jobs end because this process does. Known to the writing OS thread as well.
    void close() { closing_ = true; }

   private:
    std::unique_ptr<bide::JobStore> inner_;
    Worker& worker_;
    std::atomic<bool> closing_ = false;
  };

  std::set<std::string> kinds_;
  std::size_t client_kind_count_ = 0;
  std::unique_ptr<Store> store_;
  std::unique_ptr<bide::JobScheduler> scheduler_;
};

}  // namespace bide_jobs
