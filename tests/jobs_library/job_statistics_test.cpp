#include <cstdint>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/job_statistics.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {
constexpr Instant start{};
constexpr Priority normal = Priority::normal;
}  // namespace

TEST_CASE("JobStatistics: each class has its own, since the start and lately") {
  JobStatistics statistics;
  statistics.submitted(normal, start);
  statistics.submitted(Priority::low, start);
  statistics.started(normal, 3s, start + 3s);
  statistics.ran(normal, 2s, start + 5s);
  statistics.ended(normal, JobStatus::succeeded, nullptr, start + 5s);
  const ClassStatistics recent = statistics.recent(normal, start + 5s);
  CHECK(recent.submitted == 1);
  CHECK(recent.started == 1);
  CHECK(recent.wait.mean() == 3s);
  CHECK(recent.run.mean() == 2s);
  CHECK(recent.ended[static_cast<std::size_t>(JobStatus::succeeded)] == 1);
  CHECK(recent.missed_deadlines == 0);
  CHECK(recent.met_deadlines == 0);
  CHECK(statistics.total(Priority::low).submitted == 1);
  CHECK(statistics.total(Priority::high).submitted == 0);
}

TEST_CASE("JobStatistics: a deadline is met by success no later, and missed by any other end but a cancel") {
  JobStatistics statistics;
  const Instant deadline = start + 10s;
  statistics.ended(normal, JobStatus::succeeded, &deadline, deadline);
  statistics.ended(normal, JobStatus::succeeded, &deadline, deadline + 4s);
  statistics.ended(normal, JobStatus::failed, &deadline, deadline - 1s);
  statistics.ended(normal, JobStatus::cancelled, &deadline, deadline + 1h);
  const ClassStatistics total = statistics.total(normal);
  CHECK(total.met_deadlines == 1);
  CHECK(total.missed_deadlines == 2);
  CHECK(total.lateness.count() == 1);
  CHECK(total.lateness.mean() == 4s);
}

TEST_CASE("JobStatistics: windows go by number, and what they drop stays in the total") {
  JobStatistics statistics({.window = 10s, .windows = 2});
  for (int second = 0; second < 60; second += 5) statistics.submitted(normal, start + second * 1s);
  CHECK(statistics.recent(normal, start + 55s).submitted == 6);
  CHECK(statistics.recent(normal, start + 59s).submitted == 6);
  CHECK(statistics.recent(normal, start + 60s).submitted == 4);
  CHECK(statistics.recent(normal, start + 75s).submitted == 2);
  CHECK(statistics.recent(normal, start + 80s).submitted == 0);
  CHECK(statistics.total(normal).submitted == 12);
  statistics.submitted(normal, start + 1000s);
  CHECK(statistics.recent(normal, start + 1000s).submitted == 1);
  statistics.submitted(normal, start + 1020s);
  CHECK(statistics.recent(normal, start + 1029s).submitted == 2);
  CHECK(statistics.recent(normal, start + 1030s).submitted == 1);
  CHECK(statistics.total(normal).submitted == 14);
}

TEST_CASE("JobStatistics: the last instant is in a window like any other") {
  JobStatistics statistics({.window = 10s, .windows = 0});
  statistics.started(normal, Duration::max(), Instant::max());
  statistics.started(normal, 1s, Instant::max());
  CHECK(statistics.recent(normal, Instant::max()).started == 2);
  CHECK(statistics.total(normal).wait.longest() == Duration::max());
}
