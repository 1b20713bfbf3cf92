// A worker whose jobs write down what happens to them, for a test that kills it at any moment.
//
// usage: durable_worker DATABASE LOG FIRST COUNT      submits the jobs k<FIRST> to k<FIRST + COUNT - 1>, and those that
//                                                     are left of runs before, and ends when all have ended
// The log has a line for each event, written before anything follows from it: `accepted KEY ID`, `begin KEY ATTEMPT`,
// `done KEY ATTEMPT`, `reported KEY STATUS`.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/jobs/job_scheduler.hpp>
#include <bide/executor/jobs/sqlite_job_store.hpp>
#include <bide/executor/scope/task_group.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

int log_file = -1;

// One write to a file that is appended to: whole or not there, and in the system's hands when it returns.
void note(const char* event, const std::string& key, const std::string& value) {
  const std::string line = std::string(event) + " " + key + " " + value + "\n";
  if (::write(log_file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("the log can't be written");
}

Task<JobOutcome> work(JobContext& context) {
  const std::string key = context.payload();
  const unsigned long number = std::strtoul(key.c_str() + 1, nullptr, 10);
  note("begin", key, std::to_string(context.attempt()));
  co_await Sleep(number % 5 * 400us);
  if (number % 7 == 0 && context.attempt() == 1) co_return JobOutcome::retryable("the first attempt");
  note("done", key, std::to_string(context.attempt()));
  co_return JobOutcome::success(key);
}

Task<> report(JobHandle handle, std::string key) {
  const JobResult result = co_await handle;
  note("reported", key, to_string(result.status));
}

Job job_of(const std::string& key) {
  Job job;
  job.kind = "note";
  job.payload = key;
  job.key = key;
  job.retry.max_attempts = 100;
  job.retry.initial_backoff = 1ms;
  return job;
}

Task<> submit_some(JobScheduler& scheduler, TaskGroup& reports, unsigned long first, unsigned long end) {
  for (unsigned long number = first; number < end; number += 4) {
    const std::string key = "k" + std::to_string(number);
    Job job = job_of(key);
    JobHandle handle = co_await scheduler.submit(std::move(job));
    note("accepted", key, std::to_string(handle.id()));
    reports.submit(report(std::move(handle), key));
  }
}

Task<> run(TaskGroup& group, SqliteJobStore& store, unsigned long first, unsigned long end) {
  JobSchedulerOptions options;
  options.store = &store;
  options.retained = 1'000'000;  // all: the test looks at them
  JobScheduler scheduler(options);
  scheduler.handle("note", JobWork(work));
  PoolOptions pool;
  pool.workers = 4;
  scheduler.add_pool("default", pool);
  scheduler.restore();
  for (const JobSummary& summary : scheduler.list()) {
    std::optional<JobHandle> handle = scheduler.find(summary.id);
    if (handle && !handle->ended()) group.submit(report(*handle, summary.key));
  }
  std::vector<Handle<>> submitters;
  for (unsigned long place = 0; place < 4; ++place)
    submitters.push_back(group.submit(submit_some(scheduler, group, first + place, end)));
  for (Handle<>& submitter : submitters) co_await submitter;
  co_await scheduler.shut_down(JobScheduler::Shutdown::drain);
}

Task<> work_off(SqliteJobStore& store, unsigned long first, unsigned long end) {
  co_await with_task_group(run, std::ref(store), first, end);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: durable_worker DATABASE LOG FIRST COUNT\n");
    return 2;
  }
  try {
    SqliteJobStore store(arguments[1]);
    log_file = ::open(arguments[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const unsigned long first = std::strtoul(arguments[3], nullptr, 10);
    const unsigned long end = first + std::strtoul(arguments[4], nullptr, 10);
    Executor executor;
    executor.submit(work_off(store, first, end));
    executor.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "durable_worker: %s\n", error.what());
    return 1;
  }
}
