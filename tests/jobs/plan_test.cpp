#include "plan.hpp"

#include "jobs_text.hpp"
#include "run_command.hpp"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>
#include <string_view>

using bide::JobStatus;
using bide::test::csv;
using bide::test::error_of;
using bide::test::schedule;
using bide_jobs::Plan;
using bide_jobs::PlanOptions;
using bide_jobs::Workload;
using namespace std::chrono_literals;

namespace {

Workload timed(std::string_view text, const std::map<std::string, std::chrono::nanoseconds>& learned = {}) {
  bide_jobs::ReadOptions reading;
  reading.durations = bide_jobs::Durations::optional;
  Workload workload = csv(text, reading);
  take_durations(workload, learned);
  return workload;
}

Plan plan_of(std::string_view text, std::size_t workers = 1, std::chrono::nanoseconds until = 0s) {
  PlanOptions options;
  options.workers = workers;
  options.until = until;
  return make_plan(timed(text), options);
}

std::string schedule_of_plan(std::string_view text, std::size_t workers = 1,
                             std::chrono::nanoseconds until = 0s) {
  const Plan plan = plan_of(text, workers, until);
  return schedule(plan.workload, plan.history);
}

bide::StoredState::Entry stored(const char* kind, bide::WallTime took,
                                JobStatus status = JobStatus::succeeded) {
  bide::StoredState::Entry entry;
  entry.job.kind = kind;
  entry.status = status;
  entry.started = 1'000;
  entry.ended = 1'000 + took;
  return entry;
}

}  // namespace

TEST_CASE("Plan: the scheduler's order, by class, deadline and what comes after what") {
  CHECK(schedule_of_plan("name,priority,duration,deadline,hint\n"
                         "A,high,4,,\nB,normal,2,10,2\nC,low,1,6,1\nD,normal,3,,\nE,critical,1,,\n") ==
        "E[0-1] C[1-2] A[2-6] B[6-8] D[8-11]");
  CHECK(schedule_of_plan(
            "name,duration,after\npack,1,build; lint:done\nbuild,3,fetch\nlint,1,fetch\nfetch,1,\n", 2) ==
        "fetch[0-1] build[1-4] lint[1-2] pack[4-5]");
}

TEST_CASE("Plan: a job that is late is told, and by how much") {
  PlanOptions options;
  const Plan plan = plan_of("name,duration,deadline\na,3,\nb,2,4\n");
  std::ostringstream out;
  write_plan(out, plan, options);
  CHECK(out.str().find("LATE by") == std::string::npos);  // the deadline puts b first
  const Plan late = plan_of("name,duration,deadline,submit\na,3,,0\nb,2,4,1\n");
  std::ostringstream second;
  write_plan(second, late, options);
  CHECK(second.str().find("LATE by 1s") != std::string::npos);
  CHECK(second.str().find("1 of 1 deadlines missed, the end at 5s") != std::string::npos);
}

TEST_CASE("Plan: a job that takes longer than its timeout fails, after its retries") {
  const Plan plan =
      plan_of("name,duration,timeout,retries,after\nslow,9,2,1,\nalarm,1,,,slow:failed\nnext,1,,,slow\n");
  REQUIRE(plan.workload.jobs.size() == 3);
  CHECK(plan.statuses ==
        std::vector<JobStatus>{JobStatus::dead_lettered, JobStatus::succeeded, JobStatus::skipped});
  CHECK(plan.history.fates[0].ended - plan.history.fates[0].started == 2s);
  CHECK(plan.history.fates[1].started == plan.history.fates[0].ended);
}

TEST_CASE("Plan: what recurs comes until the end of the plan, a fixed start at its time") {
  CHECK(schedule_of_plan("name,duration,every\ntick,1,10\n", 1, 35s).find("[10-11] ") != std::string::npos);
  CHECK(plan_of("name,duration,every\ntick,1,10\n", 1, 35s).workload.jobs.size() == 3);
  CHECK(plan_of("name,duration,cron\nhourly,1,0 * * * *\n", 1, 150min).workload.jobs.size() == 2);
  CHECK(schedule_of_plan("name,duration,hint,start\nfixed,2,2,20\nlong,15,15,\nnext,10,10,\n") ==
        "long[0-15] fixed[20-22] next[22-32]");
}

TEST_CASE(
    "Plan: a wide job takes as many workers as it has slots, and none that comes later goes before it") {
  CHECK(schedule_of_plan("name,duration,slots\na,2,1\nwide,3,3\nb,1,1\nc,1,2\n", 3) ==
        "a[0-2] wide[2-5] b[5-6] c[5-6]");
}

TEST_CASE("Plan: a file that a scheduler can't take is refused") {
  const auto error = [](const char* text) { return error_of([text] { plan_of(text); }); };
  CHECK(error("name,duration,slots\nwide,1,2\n") ==
        "jobs.csv: line 2: wide takes 2 slots; expected as many as there are workers (--workers) at most, 1");
  CHECK(error("name,duration,cron\na,1,61 * * * *\n").find("jobs.csv:2:5: ") == 0);
}

TEST_CASE("Durations: the median of what a kind has taken, else the job's own, its hint, one second") {
  bide::StoredState state;
  state.jobs = {stored("a", 5), stored("a", 1), stored("a", 9), stored("a", 1'000, JobStatus::failed),
                stored("b", 4), stored("b", 2)};
  const auto learned = bide_jobs::learned_durations(state);
  CHECK(learned == std::map<std::string, std::chrono::nanoseconds>{{"a", 5ns}, {"b", 2ns}});
  const Workload workload =
      timed("name,kind,duration,hint\na,,7,\nx,b,,\nown,,7,\nhinted,,,3\nnone,,,\n", learned);
  std::vector<std::chrono::nanoseconds> durations;
  for (const bide_jobs::Job& job : workload.jobs) durations.push_back(job.duration);
  CHECK(durations == std::vector<std::chrono::nanoseconds>{5ns, 2ns, 7s, 3s, 1s});
}

TEST_CASE("BoundedOutput: the first and the last bytes, and how many were left out") {
  const auto add = [](bide_jobs::BoundedOutput& output, const std::string& text) {
    output.add(std::as_bytes(std::span(text)));
  };
  bide_jobs::BoundedOutput output;
  add(output, "begin");
  CHECK(output.text() == "begin");
  for (int i = 0; i < 100; ++i) add(output, std::string(1000, 'x'));
  add(output, "end");
  const std::string text = output.text();
  const std::string note = "[... " + std::to_string(100'008 - 16 * 1024) + " bytes left out ...]";
  CHECK(text.size() == 16 * 1024 + note.size());
  CHECK(text.find(note) == 4 * 1024);
  CHECK(text.substr(text.size() - 4) == "xend");
}
