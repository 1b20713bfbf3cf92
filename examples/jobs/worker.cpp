#include "worker.hpp"

#include "input_error.hpp"
#include "run_command.hpp"

#include <bide/executor/jobs/job_work.hpp>
#include <bide/executor/jobs/sqlite_job_store.hpp>

#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bide_jobs {

std::unique_ptr<bide::JobStore> open_store(const std::string& database) {
  try {
    return std::make_unique<bide::SqliteJobStore>(database);
  } catch (const std::runtime_error& error) {
    throw InputError("--db", error.what());
  }
}

Worker::Worker(const Options& options) {
  bide::JobSchedulerOptions scheduler_options;
  scheduler_options.decisions = options.decisions;
  scheduler_options.retained = options.retained;
  scheduler_options.dead_letters = options.retained;
  if (!options.database.empty()) {
    store_ = std::make_unique<Store>(open_store(options.database), *this);
    scheduler_options.store = store_.get();
  }
  scheduler_ = std::make_unique<bide::JobScheduler>(scheduler_options);
  bide::PoolOptions pool;
  pool.workers = options.workers;
  pool.bounds.in_all = options.queue;
  pool.overflow = bide::Overflow::reject;
  pool.unknown_parent = bide::UnknownParent::wait;
  pool.tenant_weights = options.tenant_weights;
  scheduler_->add_pool("default", std::move(pool));
}

void Worker::know(const std::string& kind) {
  if (kinds_.insert(kind).second) scheduler_->handle(kind, bide::JobWork(run_command));
}

bool Worker::know_from_client(const std::string& kind) {
  if (kinds_.count(kind) != 0) return true;
  if (client_kind_count_ == most_client_kinds) return false;
  ++client_kind_count_;
  know(kind);
  return true;
}

bide::StoredState load_store(bide::JobStore& store) {
  try {
    return store.load();
  } catch (const std::runtime_error& error) {
    throw InputError("--db", error.what());
  }
}

bide::StoredState Worker::Store::load() {
  bide::StoredState state = load_store(*inner_);
  for (const bide::StoredState::Entry& entry : state.jobs) worker_.know(entry.job.kind);
  for (const bide::StoredRecurring& recurring : state.recurring) worker_.know(recurring.job.kind);
  return state;
}

void Worker::Store::write(std::span<const bide::JobRecord> batch) {
  if (!closing_) return inner_->write(batch);
  std::vector<bide::JobRecord> kept(batch.begin(), batch.end());
  std::erase_if(kept, [](const bide::JobRecord& record) {
    return record.kind == bide::JobRecord::Kind::ended && record.status == bide::JobStatus::cancelled;
  });
  if (!kept.empty()) inner_->write(kept);
}

bide::Task<> Worker::run(std::function<bide::Task<>(bide::TaskGroup&)> body) {
  std::exception_ptr failed;
  try {
    scheduler_->restore();
    bide::Task<> group = bide::with_task_group(body);
    co_await std::move(group);
  } catch (...) {  // whatever it is: what runs is killed and waited for
    failed = std::current_exception();
  }
  co_await shut_down();
  if (failed != nullptr) std::rethrow_exception(failed);
}

bide::Task<> Worker::shut_down() {
  if (store_) store_->close();
  co_await scheduler_->shut_down(bide::JobScheduler::Shutdown::cancel);
}

}  // namespace bide_jobs
