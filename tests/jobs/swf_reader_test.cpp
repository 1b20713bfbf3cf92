#include "class_map.hpp"
#include "jobs_text.hpp"

#include <catch2/catch.hpp>

#include <string>

using bide::Priority;
using bide::test::error_of;
using bide::test::swf;
using bide::test::swf_error;
using bide_jobs::ClassMap;
using bide_jobs::Job;
using bide_jobs::ReadOptions;
using bide_jobs::TraceSlots;
using bide_jobs::Workload;
using namespace std::chrono_literals;

namespace {

// fields:             1 2   3  4  5 6  7  8  9  10 11 12 13 14 15 16 17 18
const char* all_known = "7 100 5 60 4 -1 -1 8 90 -1 1 3 1 -1 2 1 -1 -1\n";

}  // namespace

TEST_CASE("SWF: job number, submit, run and requested time; one slot and normal unless told otherwise") {
  Workload workload = swf(std::string("; Version: 2.2\n\n") + all_known);
  REQUIRE(workload.jobs.size() == 1);
  const Job& job = workload.jobs[0];
  CHECK(job.name == "7");
  CHECK(job.line == 3);
  CHECK(job.submit == 100s);
  CHECK(job.duration == 60s);
  CHECK(job.hint == 90s);
  CHECK_FALSE(job.deadline.has_value());
  CHECK(job.slots == 1);
  CHECK(job.priority == Priority::normal);
}

TEST_CASE("SWF: slots are the allocated, else the requested processors, else one") {
  ReadOptions options;
  options.trace_slots = TraceSlots::allocated;
  Workload workload =
      swf("1 0 -1 9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n"
          "2 0 -1 9 -1 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n"
          "3 0 -1 9 0 -1 -1 -1 -1 -1 1 1 1 -1 1 1 -1 -1\n",
          options);
  REQUIRE(workload.jobs.size() == 3);
  CHECK(workload.jobs[0].slots == 4);
  CHECK(workload.jobs[1].slots == 8);
  CHECK(workload.jobs[2].slots == 1);
}

TEST_CASE("SWF: queue or partition map to a class, the others are normal") {
  ReadOptions options;
  options.classes = ClassMap::parse("queue:2=High,0=low");
  CHECK(swf(all_known, options).jobs[0].priority == Priority::high);
  options.classes = ClassMap::parse("partition:1=critical");
  CHECK(swf(all_known, options).jobs[0].priority == Priority::critical);
  options.classes = ClassMap::parse("partition:2=critical");
  CHECK(swf(all_known, options).jobs[0].priority == Priority::normal);
}

TEST_CASE("SWF: unknown times and parts of jobs are skipped and counted") {
  Workload workload =
      swf("1 0 -1 -1 4 -1 -1 8 -1 -1 5 1 1 -1 1 1 -1 -1\n"
          "2 -1 -1 9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n"
          "3 0 -1 9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n"
          "3 0 -1 4 4 -1 -1 8 -1 -1 2 1 1 -1 1 1 -1 -1\n"
          "3 5 -1 5 4 -1 -1 8 -1 -1 3 1 1 -1 1 1 -1 -1\n");
  CHECK(workload.jobs.size() == 1);
  CHECK(workload.unknown_time_count == 2);
  CHECK(workload.partial_execution_count == 2);
}

TEST_CASE("SWF: tabs, carriage returns, comments behind a job, no last line end") {
  Workload workload =
      swf(";only a comment\r\n"
          "  1\t0 -1 9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1 ; tail\r\n"
          "2 0.5 -1 9 4 -1.5 1e+05 8 -1 -1 1 1 1 -1 1 1 -1 -1");
  REQUIRE(workload.jobs.size() == 2);
  CHECK(workload.jobs[1].submit == 500ms);
}

TEST_CASE("SWF: the recorded order need not be the order of submit times") {
  Workload workload =
      swf("1 9 -1 9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n"
          "2 3 -1 9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n");
  CHECK(workload.jobs[0].name == "2");
}

TEST_CASE("SWF: errors say line, column, what was expected and what was found") {
  CHECK(swf_error("; c\n1 2 3\n") == "trace.swf:2:6: expected 18 fields, found 3");
  CHECK(swf_error("1 0 -1 9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1 77\n") ==
        "trace.swf:1:45: expected 18 fields, found a further one: \"77\"");
  CHECK(swf_error("1 0 -1 9 4 x -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n") ==
        "trace.swf:1:12: expected a number, found \"x\"");
  CHECK(swf_error("1 0 -1 -9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n") ==
        "trace.swf:1:8: expected a time of zero or more, or -1 for unknown, found \"-9\"");
  CHECK(swf_error("1 99999999999 -1 9 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n") ==
        "trace.swf:1:3: expected a time of at most 292 years, or -1 for unknown, found \"99999999999\"");
  CHECK(swf_error("1 0 -1 9 4 -1 -1 8 -1 -1 1.5 1 1 -1 1 1 -1 -1\n") ==
        "trace.swf:1:26: expected a whole number, or -1 for unknown, found \"1.5\"");
  CHECK(swf_error("1 5000000000 -1 5000000000 4 -1 -1 8 -1 -1 1 1 1 -1 1 1 -1 -1\n") ==
        "trace.swf:1:17: expected submit times and durations that add up to at most 292 years, found "
        "\"5000000000\"");
}

TEST_CASE("SWF: a file of comments is an empty workload") { CHECK(swf("; nothing\n").jobs.empty()); }

TEST_CASE("Class map: what is no map is refused") {
  auto message = [](const char* text) { return error_of([&] { ClassMap::parse(text); }); };
  CHECK(message("user:1=high") ==
        "--classes: expected queue or partition and a colon, such as queue:0=high,1=low, found \"user\"");
  CHECK(message("queue") == "--classes: expected at least one number=class after the colon, found \"queue\"");
  CHECK(message("queue:") ==
        "--classes: expected at least one number=class after the colon, found \"queue:\"");
  CHECK(message("queue:0") == "--classes: expected number=class, found \"0\"");
  CHECK(message("queue:0=urgent") ==
        "--classes: expected a class: critical, high, normal or low, found \"urgent\"");
  CHECK(message("queue:x=high") ==
        "--classes: expected a number of a queue or partition before =, found \"x\"");
  CHECK(message("queue:-1=high") ==
        "--classes: expected a number of a queue or partition before =, found \"-1\"");
  CHECK(message("queue:1=high,1=low") == "--classes: expected each number once, found \"1=low\"");
  CHECK(message("queue:1=high,") ==
        "--classes: expected number=class after the comma, found \"queue:1=high,\"");
}

TEST_CASE("Format: the name decides, else the first character") {
  auto jobs = [](const char* text, const char* source) {
    return bide_jobs::parse_workload(text, source, {}).jobs.size();
  };
  CHECK(jobs(all_known, "a.swf") == 1);
  CHECK(jobs(all_known, "a.swf.gz") == 1);
  CHECK(jobs(all_known, "<stdin>") == 1);
  CHECK(jobs("; comment\n", "<stdin>") == 0);
  CHECK(jobs("name,duration\na,1\n", "<stdin>") == 1);
  CHECK(jobs("\"name\",duration\na,1\n", "jobs.txt") == 1);
  CHECK_THROWS_AS(jobs(all_known, "a.csv"), bide_jobs::InputError);
}
