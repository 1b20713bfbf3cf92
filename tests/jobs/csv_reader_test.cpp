#include "jobs_text.hpp"

#include <catch2/catch.hpp>

#include <string>

using bide::Priority;
using bide::test::csv;
using bide::test::csv_error;
using bide_jobs::Job;
using bide_jobs::Workload;
using namespace std::chrono_literals;

TEST_CASE("CSV: all columns in any order") {
  Workload workload =
      csv("slots,hint,deadline,duration,submit,priority,name\n"
          "3,2m,1h,90,1.5s,High,backup\n");
  REQUIRE(workload.jobs.size() == 1);
  const Job& job = workload.jobs[0];
  CHECK(job.name == "backup");
  CHECK(job.line == 2);
  CHECK(job.priority == Priority::high);
  CHECK(job.submit == 1500ms);
  CHECK(job.duration == 90s);
  CHECK(job.deadline == 3600s);
  CHECK(job.hint == 120s);
  CHECK(job.slots == 3);
}

TEST_CASE("CSV: only name and duration are required, empty fields take the defaults") {
  for (const char* text :
       {"name,duration\na,5\n", "name,priority,submit,duration,deadline,hint,slots\na,,,5,,,\n"}) {
    Workload workload = csv(text);
    REQUIRE(workload.jobs.size() == 1);
    const Job& job = workload.jobs[0];
    CHECK(job.priority == Priority::normal);
    CHECK(job.submit == 0s);
    CHECK_FALSE(job.deadline.has_value());
    CHECK_FALSE(job.hint.has_value());
    CHECK(job.slots == 1);
  }
}

TEST_CASE("CSV: quotes, commas and line ends in names, blanks, blank lines, either line end, no last one") {
  Workload workload =
      csv("\xef\xbb\xbf"
          "name , duration\r\n"
          "\"a, \"\"b\"\"\",1\r\n"
          "\r\n"
          "\"two\r\nlines\", 2 \r\n"
          "   \n"
          "last,3");
  REQUIRE(workload.jobs.size() == 3);
  CHECK(workload.jobs[0].name == "a, \"b\"");
  CHECK(workload.jobs[0].line == 2);
  CHECK(workload.jobs[1].name == "two\r\nlines");
  CHECK(workload.jobs[1].line == 4);
  CHECK(workload.jobs[1].duration == 2s);
  CHECK(workload.jobs[2].name == "last");
  CHECK(workload.jobs[2].line == 7);
}

TEST_CASE("CSV: jobs come in the order of their submit times, those of one instant by line") {
  Workload workload = csv("name,submit,duration\nc,2,1\na,1,1\nd,2,1\nb,1,1\n");
  std::string order;
  for (const Job& job : workload.jobs) order += job.name;
  CHECK(order == "abcd");
}

TEST_CASE("CSV: a header without jobs is an empty workload") {
  CHECK(csv("name,duration\n").jobs.empty());
  CHECK(csv("name,duration").jobs.empty());
}

TEST_CASE("CSV: a wrong header says where and what was expected") {
  CHECK(csv_error("") == "jobs.csv:1:1: expected a header with the columns name and duration, found nothing");
  CHECK(csv_error("\n\n") ==
        "jobs.csv:3:1: expected a header with the columns name and duration, found nothing");
  CHECK(csv_error("name,duration,colour\n") ==
        "jobs.csv:1:15: expected a column name (name, priority, submit, duration, deadline, hint, slots, "
        "after, kind, retries, "
        "timeout, start, every, cron, tenant, command), "
        "found "
        "\"colour\"");
  CHECK(csv_error("name,,duration\n") ==
        "jobs.csv:1:6: expected a column name (name, priority, submit, duration, deadline, hint, slots, "
        "after, kind, retries, "
        "timeout, start, every, cron, tenant, command), "
        "found \"\"");
  CHECK(csv_error("name,duration, name\n") ==
        "jobs.csv:1:16: expected each column once, found a second \"name\"");
  CHECK(csv_error("name,submit\na,1\n") ==
        "jobs.csv:1:12: expected a column \"duration\", found the end of the header");
}

TEST_CASE("CSV: a wrong field says line, column, what was expected and what was found") {
  const std::string header = "name,priority,submit,duration,deadline,hint,slots\n";
  CHECK(csv_error(header + "a,,,5m,,,\nb,,, 1x,,,\n") ==
        "jobs.csv:3:6: expected a time such as 90, 1.5s, 10m or 2h, found \"1x\"");
  CHECK(csv_error(header + "a,urgent,,5m,,,\n") ==
        "jobs.csv:2:3: expected critical, high, normal or low, found \"urgent\"");
  CHECK(csv_error(header + "a,,-1,5m,,,\n") == "jobs.csv:2:4: expected a time of zero or more, found \"-1\"");
  CHECK(csv_error(header + "a,,,,,,\n") == "jobs.csv:2:5: expected a duration, found an empty field");
  CHECK(csv_error(header + ",,,1,,,\n") == "jobs.csv:2:1: expected a name, found an empty field");
  CHECK(csv_error(header + "a,,,1,soon,,\n") ==
        "jobs.csv:2:7: expected a time such as 90, 1.5s, 10m or 2h, found \"soon\"");
  CHECK(csv_error(header + "a,,,1,,9e9,\n") ==
        "jobs.csv:2:8: expected a time such as 90, 1.5s, 10m or 2h, found \"9e9\"");
  for (const char* slots : {"0", "-1", "1.5", "many", "99999999999999999999"}) {
    CHECK(csv_error(header + "a,,,1,,," + slots + "\n") ==
          std::string("jobs.csv:2:9: expected a whole number of slots, 1 or more, found \"") + slots + "\"");
  }
}

TEST_CASE("CSV: too few and too many fields are found where the record ends or goes on") {
  CHECK(csv_error("name,duration\na\n") == "jobs.csv:2:2: expected 2 fields as in the header, found 1");
  CHECK(csv_error("name,duration\na,1,x\n") == "jobs.csv:2:5: expected 2 fields as in the header, found 3");
  CHECK(csv_error("name,duration\na,1,\n") == "jobs.csv:2:5: expected 2 fields as in the header, found 3");
  CHECK(csv_error("name,duration\na") == "jobs.csv:2:2: expected 2 fields as in the header, found 1");
}

TEST_CASE("CSV: a quote in the wrong place") {
  CHECK(csv_error("name,duration\na\"b,1\n") ==
        "jobs.csv:2:2: expected a quote only around a whole field (and \"\" for one inside)");
  CHECK(csv_error("name,duration\n\"ab\"c,1\n") ==
        "jobs.csv:2:5: expected a comma or the end of the line behind the closing quote");
  CHECK(csv_error("name,duration\na,1\n  \"b,2\nc,3\n") ==
        "jobs.csv:3:3: expected a closing quote for this one");
}

TEST_CASE("CSV: columns count characters, lines count also within quotes") {
  CHECK(csv_error("name,duration\n\"\xc3\xa9t\xc3\xa9\",x\n") ==
        "jobs.csv:2:7: expected a time such as 90, 1.5s, 10m or 2h, found \"x\"");
  CHECK(csv_error("name,duration\n\"a\nb\nc\",x\n") ==
        "jobs.csv:4:4: expected a time such as 90, 1.5s, 10m or 2h, found \"x\"");
  CHECK(csv_error("name,duration\ra,1\rb,x\r") ==
        "jobs.csv:3:3: expected a time such as 90, 1.5s, 10m or 2h, found \"x\"");
}

TEST_CASE("CSV: what was found is shown on one line, escaped and cut") {
  CHECK(csv_error("name,duration\na,\"1\n2\"\n") ==
        "jobs.csv:2:3: expected a time such as 90, 1.5s, 10m or 2h, found \"1\\n2\"");
  std::string message = csv_error("name,duration\na," + std::string(1000, 'x') + "\n");
  CHECK(message.size() < 150);
  CHECK(message.substr(message.size() - 4) == "...\"");
}

TEST_CASE("CSV: the first of several errors is told") {
  CHECK(csv_error("name,duration\na,x\nb,y\n") ==
        "jobs.csv:2:3: expected a time such as 90, 1.5s, 10m or 2h, found \"x\"");
}

TEST_CASE("CSV: a workload that would run past the end of time is refused") {
  CHECK(csv_error("name,duration\na,150000000m\nb,150000000m\n") ==
        "jobs.csv:3:3: expected submit times and durations that add up to at most 292 years, found "
        "\"150000000m\"");
  CHECK(csv_error("name,submit,duration\na,106751d,0\nb,0,1d\n") ==
        "jobs.csv:3:5: expected submit times and durations that add up to at most 292 years, found \"1d\"");
  CHECK(csv_error("name,submit,duration\na,106751d,0\nb,0,1h\n").empty());
}

TEST_CASE(
    "CSV: the deadline factor gives a deadline, and its duration as a hint, to jobs without a deadline") {
  bide_jobs::ReadOptions options;
  options.deadline_factor = bide_jobs::Factor::parse("1.5");
  Workload workload =
      csv("name,submit,duration,deadline,hint\na,10,20,,\nb,10,20,100,\nc,10,20,,7\n", options);
  CHECK(workload.jobs[0].deadline == 40s);
  CHECK(workload.jobs[0].hint == 20s);
  CHECK(workload.jobs[1].deadline == 100s);
  CHECK_FALSE(workload.jobs[1].hint.has_value());
  CHECK(workload.jobs[2].deadline == 40s);
  CHECK(workload.jobs[2].hint == 7s);
}

TEST_CASE("CSV: order, attempts and commands") {
  const bide_jobs::Workload workload =
      csv("name,duration,after,kind,retries,timeout,start,every,cron,tenant,command\n"
          "b,1, c ;a2:failed,build,2,90s,10m,,,blue,\"echo \"\"hi, there\"\"; exit 1\"\n"
          "a,1,,,,,,5m,,,\nc,1,a2:done,,,,,,,,\na2,1,,,,,,,,,\nd,1,,,,,,,0 8 * * mon,,\n");
  const bide_jobs::Job& job = workload.jobs[0];
  CHECK(job.kind == "build");
  CHECK(job.retries == 2);
  CHECK(job.timeout == 90s);
  CHECK(job.start == 10min);
  CHECK(job.tenant == "blue");
  CHECK(job.after == std::vector<bide_jobs::After>{{4, bide_jobs::After::On::success},
                                                   {5, bide_jobs::After::On::failure}});
  CHECK(job.command == "echo \"hi, there\"; exit 1");
  CHECK(workload.jobs[1].every == 5min);
  CHECK(workload.jobs[4].cron == "0 8 * * mon");
  CHECK(workload.jobs[2].after == std::vector<bide_jobs::After>{{5, bide_jobs::After::On::completion}});
}
