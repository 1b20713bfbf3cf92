#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/sqlite_job_store.hpp>
#include <bide/tests/random.hpp>

using namespace bide;
using namespace std::chrono_literals;
using Kind = JobRecord::Kind;

namespace {

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "bide-store-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for the test");
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name = "jobs.db") const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

JobRecord accepted(StoredJob job) {
  JobRecord record;
  record.kind = Kind::accepted;
  record.id = job.id;
  record.job = std::move(job);
  return record;
}

JobRecord accepted(JobId id) {
  StoredJob job;
  job.id = id;
  return accepted(job);
}

JobRecord happened(Kind kind, JobId id, std::uint32_t attempt = 0, WallTime at = 0) {
  JobRecord record;
  record.kind = kind;
  record.id = id;
  record.attempt = attempt;
  record.at = at;
  return record;
}

JobRecord ended(JobId id, std::uint32_t attempt, WallTime at, JobStatus status, JobOutcome outcome) {
  JobRecord record = happened(Kind::ended, id, attempt, at);
  record.status = status;
  record.outcome = std::move(outcome);
  return record;
}

StoredJob rich_job() {
  StoredJob job;
  job.id = (JobId{255} << 56U) | (JobId{65535} << 40U) | 1;
  job.submitted = std::numeric_limits<WallTime>::min();
  job.kind = "résumé";
  job.pool = "'; DROP TABLE job; --";
  job.payload = std::string("zero\0and\xff", 9);
  job.priority = Priority::critical;
  job.deadline = std::numeric_limits<WallTime>::max();
  job.duration_hint = 5s;
  job.timeout = 1ns;
  job.start_at = 42;
  job.start_tolerance = 3s;
  job.start_missed = FixedStart::Missed::fail;
  job.retry.max_attempts = std::numeric_limits<std::uint32_t>::max();
  job.retry.initial_backoff = 7ms;
  job.retry.multiplier = {3, 2};
  job.retry.max_backoff = 1h;
  job.retry.jitter = RetryPolicy::Jitter::none;
  job.after.emplace_back(JobId{7}, Dependency::On::failure);
  job.after.emplace_back(std::string("parent"), Dependency::On::completion);
  job.resources.emplace_back("printer", std::numeric_limits<std::uint64_t>::max());
  job.resources.emplace_back("ink");
  job.key = "only";
  job.tenant = "acme";
  job.labels = {{"a", "1"}, {"b", ""}};
  return job;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string complaint(const std::string& path) {
  try {
    SqliteJobStore store(path);
    store.load();
    return "none";
  } catch (const SqliteError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("SqliteJobStore: a new file is empty, and gives back every member of what it was given") {
  const Folder folder;
  {
    SqliteJobStore store(folder.file());
    CHECK(store.load().jobs.empty());
    CHECK(store.load().last_id == 0);
    store.write({});
    const std::vector<JobRecord> batch = {accepted(rich_job()), accepted(2)};
    store.write(batch);
  }
  SqliteJobStore store(folder.file());
  const StoredState state = store.load();
  CHECK(state.last_id == rich_job().id);
  REQUIRE(state.jobs.size() == 2);
  CHECK(state.jobs[0].job.id == 2);
  CHECK(state.jobs[1].job == rich_job());
  CHECK(state.jobs[1].status == JobStatus::ready);
  CHECK(state.jobs[1].attempts == 0);
}

TEST_CASE("SqliteJobStore: attempts, ends, resubmits and removals") {
  const Folder folder;
  SqliteJobStore store(folder.file());
  JobRecord retry = ended(1, 1, 110, JobStatus::retrying, JobOutcome::retryable("busy", 3s));
  retry.next_attempt = 500;
  const std::vector<JobRecord> batch = {
      accepted(1),
      accepted(2),
      accepted(3),
      accepted(4),
      accepted(5),
      happened(Kind::started, 1, 1, 100),
      retry,
      happened(Kind::started, 2, 1, 100),
      ended(2, 1, 120, JobStatus::succeeded, JobOutcome::success("done")),
      ended(3, 0, 130, JobStatus::missed, JobOutcome::failure("too late")),
      happened(Kind::started, 4, 1, 100),
      ended(4, 1, 140, JobStatus::dead_lettered, JobOutcome::retryable("again")),
      happened(Kind::resubmitted, 4, 0, 150),
      happened(Kind::started, 4, 2, 160),
      happened(Kind::removed, 5)};
  store.write(batch);
  const StoredState state = store.load();
  REQUIRE(state.jobs.size() == 4);
  CHECK(state.last_id == 5);
  const auto& [first, second, third, fourth] =
      std::tie(state.jobs[0], state.jobs[1], state.jobs[2], state.jobs[3]);
  CHECK(first.status == JobStatus::retrying);
  CHECK(first.attempts == 1);
  CHECK(first.failed_attempts == 1);
  CHECK(first.next_attempt == 500);
  CHECK(first.started == 100);
  CHECK_FALSE(first.ended);
  CHECK(first.outcome == JobOutcome::retryable("busy", 3s));
  CHECK(second.status == JobStatus::succeeded);
  CHECK(second.ended == 120);
  CHECK(second.outcome == JobOutcome::success("done"));
  CHECK(third.status == JobStatus::missed);
  CHECK(third.attempts == 0);
  CHECK(third.failed_attempts == 0);
  CHECK(fourth.status == JobStatus::running);
  CHECK(fourth.attempts == 2);
  CHECK(fourth.failed_attempts == 0);
  CHECK_FALSE(fourth.ended);
  store.write(std::vector{happened(Kind::started, 1, 2, 600)});
  CHECK_FALSE(store.load().jobs[0].next_attempt);
}

namespace {
StoredRecurring rich_recurring() {
  StoredRecurring recurring;
  recurring.name = "nightly; DROP TABLE recurring";
  recurring.job = rich_job();
  recurring.job.id = 0;
  recurring.job.submitted = 0;
  recurring.job.deadline.reset();
  recurring.job.start_at.reset();
  recurring.job.start_tolerance = {};
  recurring.job.start_missed = FixedStart::Missed::run_late;
  recurring.job.after.clear();
  recurring.job.key.clear();
  recurring.since = 5;
  recurring.interval = 7s;
  recurring.cron = "* * * * *";
  recurring.zone = "Europe/Berlin";
  recurring.deadline_after = 9s;
  recurring.overlap = Recurring::Overlap::queue;
  recurring.missed = Recurring::Missed::run_late;
  recurring.reached = 11;
  recurring.latest = std::numeric_limits<JobId>::max();
  return recurring;
}

JobRecord of_recurring(Kind kind, const StoredRecurring& recurring, WallTime at = 0, JobId id = 0) {
  JobRecord record = happened(kind, id, 0, at);
  record.recurring = std::make_shared<const StoredRecurring>(recurring);
  return record;
}
}  // namespace

TEST_CASE("SqliteJobStore: what recurs, how far it has come, and that it recurs no more") {
  const Folder folder;
  StoredRecurring rich = rich_recurring();
  StoredRecurring plain;
  plain.name = "a";
  {
    SqliteJobStore store(folder.file());
    store.write(std::vector{of_recurring(Kind::recurs, rich), of_recurring(Kind::recurs, plain)});
    CHECK(store.load().recurring == std::vector{plain, rich});
    store.write(
        std::vector{of_recurring(Kind::recurred, plain, 70, 8), of_recurring(Kind::recurred, plain, 80)});
  }
  plain.reached = 80;
  plain.latest = 8;
  SqliteJobStore store(folder.file());
  CHECK(store.load().recurring == std::vector{plain, rich});
  store.write(std::vector{of_recurring(Kind::recurs_no_more, rich)});
  CHECK(store.load().recurring == std::vector{plain});
  CHECK_THROWS_WITH(store.write(std::vector{of_recurring(Kind::recurs_no_more, rich)}),
                    Catch::Contains("no recurring job 'nightly"));
  CHECK_THROWS_WITH(store.write(std::vector{accepted(1), of_recurring(Kind::recurs, plain)}),
                    Catch::Contains("UNIQUE constraint"));
  CHECK(store.load().jobs.empty());
}

TEST_CASE("SqliteJobStore: a file from before anything could recur is taken over") {
  const Folder folder;
  {
    SqliteJobStore store(folder.file());
    store.write(std::vector{accepted(rich_job())});
  }
  {
    SqliteDatabase older(folder.file());
    older.execute("DROP TABLE recurring_label; DROP TABLE recurring_resource; DROP TABLE recurring");
    older.execute("PRAGMA user_version = 1");
  }
  for (int n = 0; n < 2; ++n) {
    SqliteJobStore store(folder.file());
    CHECK(store.load().jobs[0].job == rich_job());
    CHECK(store.load().recurring.size() == static_cast<std::size_t>(n));
    if (n == 0) store.write(std::vector{of_recurring(Kind::recurs, rich_recurring())});
  }
}

TEST_CASE(
    "SqliteJobStore: a batch that can't be written whole changes nothing, and the next one is written") {
  const Folder folder;
  SqliteJobStore store(folder.file());
  store.write(std::vector{accepted(1)});
  CHECK_THROWS_WITH(store.write(std::vector{accepted(2), accepted(1)}), Catch::Contains("UNIQUE constraint"));
  CHECK_THROWS_WITH(store.write(std::vector{accepted(2), happened(Kind::started, 9, 1)}),
                    Catch::Contains("no job 9"));
  StoredJob keyed;
  keyed.id = 3;
  keyed.key = "k";
  StoredJob same = keyed;
  same.id = 4;
  CHECK_THROWS_AS(store.write(std::vector{accepted(keyed), accepted(same)}), SqliteError);
  CHECK(store.load().jobs.size() == 1);
  CHECK(store.load().last_id == 1);
  store.write(std::vector{accepted(keyed)});
  store.write(std::vector{happened(Kind::removed, 3), accepted(same)});
  CHECK(store.load().last_id == 4);
  CHECK(store.load().jobs.size() == 2);
}

TEST_CASE("SqliteJobStore: a file that is open elsewhere is refused, and free again afterwards") {
  const Folder folder;
  auto store = std::make_unique<SqliteJobStore>(folder.file());
  CHECK(complaint(folder.file()) ==
        folder.file() + ": another process, or another store of this one, has it open");
  store.reset();
  CHECK(complaint(folder.file()) == "none");
}

TEST_CASE("SqliteJobStore: says what is wrong with a file, and with which") {
  const Folder folder;
  CHECK_THAT(complaint(folder.file("no/such/folder.db")),
             Catch::StartsWith(folder.file("no/such/folder.db")) && Catch::Contains("unable to open"));
  std::ofstream(folder.file("text.db")) << std::string(5000, 'x');
  CHECK(complaint(folder.file("text.db")) ==
        folder.file("text.db") + ": it is no SQLite database, or a damaged one");
  CHECK_THAT(complaint(":memory:"), Catch::Contains("no write-ahead log"));
  { SqliteDatabase(folder.file("other.db")).execute("CREATE TABLE a (b)"); }
  const std::string before = bytes_of(folder.file("other.db"));
  CHECK_THAT(complaint(folder.file("other.db")), Catch::Contains("the database of another program"));
  CHECK(bytes_of(folder.file("other.db")) == before);
  { SqliteJobStore store(folder.file()); }
  { SqliteDatabase(folder.file()).execute("PRAGMA user_version = 7"); }
  CHECK_THAT(complaint(folder.file()), Catch::Contains("its schema has version 7, written by a newer bide"));
}

TEST_CASE("SqliteJobStore: numbers that name nothing are damage") {
  const Folder folder;
  {
    SqliteJobStore store(folder.file());
    store.write(std::vector{accepted(7)});
  }
  for (const std::string column :
       {"status", "priority", "jitter", "outcome_kind", "start_missed", "attempts"}) {
    { SqliteDatabase(folder.file()).execute(("UPDATE job SET " + column + " = -3").c_str()); }
    CHECK(complaint(folder.file()) == folder.file() + ", job 7: it is damaged: " + column + " is -3");
    { SqliteDatabase(folder.file()).execute(("UPDATE job SET " + column + " = 1").c_str()); }
  }
  CHECK(complaint(folder.file()) == "none");
  { SqliteJobStore(folder.file()).write(std::vector{of_recurring(Kind::recurs, rich_recurring())}); }
  for (const std::string column : {"overlap", "missed", "priority", "max_attempts"}) {
    { SqliteDatabase(folder.file()).execute(("UPDATE recurring SET " + column + " = -3").c_str()); }
    CHECK(complaint(folder.file()) == folder.file() + ", recurring job '" + rich_recurring().name +
                                          "': it is damaged: " + column + " is -3");
    { SqliteDatabase(folder.file()).execute(("UPDATE recurring SET " + column + " = 1").c_str()); }
  }
}

TEST_CASE("SqliteJobStore: pages that are overwritten are found") {
  const Folder folder;
  {
    SqliteJobStore store(folder.file());
    std::vector<JobRecord> batch;
    for (JobId id = 1; id <= 2000; ++id) batch.push_back(accepted(id));
    store.write(batch);
  }
  const auto size = static_cast<std::uint64_t>(std::filesystem::file_size(folder.file()));
  test::Random random(5);
  std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
  for (int n = 0; n < 40; ++n) {
    file.seekp(static_cast<std::streamoff>(4096 + random.below(size - 4096 - 64)));
    file << std::string(64, '\xa5');
  }
  file.close();
  CHECK_THAT(complaint(folder.file()), Catch::StartsWith(folder.file()));
}
