#include "explain.hpp"

#include "jobs_text.hpp"

#include <catch2/catch.hpp>

#include <string>

using bide::test::csv;
using bide::test::error_of;
using bide_jobs::find_job;
using bide_jobs::Policy;
using bide_jobs::Workload;

namespace {

std::string explained(const char* text, const char* first, const char* second, Policy policy,
                      std::int64_t workers = 1, std::size_t capacity = 256) {
  Workload workload = csv(text);
  bide_jobs::ReplayOptions options;
  options.policy = policy;
  options.workers = workers;
  options.capacity = capacity;
  return explain(workload, replay(workload, options), options, find_job(workload, first),
                 find_job(workload, second));
}

const char* s1 =
    "name,priority,duration,deadline,hint\n"
    "A,high,4,,\nB,normal,2,10,2\nC,low,1,6,1\nD,normal,3,,\nE,critical,1,,\n";

}  // namespace

TEST_CASE("Explain: a higher score, with its parts") {
  CHECK(
      explained(s1, "C", "A", Policy::urgency) ==
      "C started at 1s, before A (at 2s), because at 1s its score 1012.000 (class low 10.000, waiting 2.000, "
      "deadline 1000.000) was above that of A, 1002.000 (class high 1000.000, waiting 2.000, deadline "
      "0.000).");
}

TEST_CASE("Explain: asked the wrong way round it says so") {
  CHECK(explained(s1, "C", "A", Policy::strict) ==
        "C did not start before A: A started at 1s, before C (at 10s), because its class high is above the "
        "class "
        "low of C.");
}

TEST_CASE("Explain: latest start, no deadline, sequence") {
  CHECK(explained(s1, "C", "B", Policy::edf) ==
        "C started at 0s, before B (at 1s), because its latest start time 5s is earlier than the 8s of B.");
  CHECK(explained(s1, "B", "E", Policy::edf) ==
        "B started at 1s, before E (at 3s), because E has no deadline.");
  CHECK(explained(s1, "A", "B", Policy::fifo) ==
        "A started at 0s, before B (at 4s), because it entered the queue earlier (sequence 0; B has 1).");
  CHECK(explained(s1, "B", "D", Policy::strict) ==
        "B started at 5s, before D (at 7s), because nothing else tells them apart and it entered the queue "
        "earlier "
        "(sequence 1; D has 3).");
}

TEST_CASE("Explain: an equal score leaves it to the class") {
  CHECK(explained("name,priority,submit,duration,deadline,hint\nold,low,0,1,,\nblock,high,0,45,,\nnew,normal,"
                  "45,1,,\n",
                  "new", "old", Policy::urgency) ==
        "new started at 45s, before old (at 46s), because at equal scores of 100.000 its class normal is "
        "above the "
        "class low of old.");
}

TEST_CASE("Explain: the other came later") {
  CHECK(explained("name,submit,duration\na,0,1\nb,5,1\n", "a", "b", Policy::fifo) ==
        "a started at 0s, before b (at 5s), because b was submitted only at 5s.");
}

TEST_CASE("Explain: the other came while the head waited for its slots") {
  CHECK(explained("name,priority,submit,duration,slots\na,low,0,9,1\nwide,low,1,1,2\nalarm,critical,2,1,1\n",
                  "wide", "alarm", Policy::strict, 2) ==
        "wide started at 9s, before alarm (at 10s), because it had been chosen at 1s and waited at the head "
        "for its "
        "2 slots, where nothing overtakes it, when alarm was submitted at 2s.");
}

TEST_CASE("Explain: a better score counts for nothing behind an earlier latest start") {
  CHECK(explained("name,priority,duration,deadline,hint\n"
                  "A,normal,100,150,100\nB,normal,1,7,1\nH1,high,1,,\n",
                  "H1", "A", Policy::urgency) ==
        "H1 started at 0s, before A (at 2s), because A stood behind B, which has the earlier latest start "
        "time in "
        "its class, and at 0s H1's score 1000.000 (class high 1000.000, waiting 0.000, deadline 0.000) was "
        "above "
        "that of B, 100.000 (class normal 100.000, waiting 0.000, deadline 0.000).");
}

TEST_CASE("Explain: refused jobs never start") {
  const char* text = "name,submit,duration,slots\na,0,9,1\nb,1,1,1\nc,2,1,1\nwide,3,1,7\n";
  CHECK(explained(text, "wide", "a", Policy::fifo, 1, 1) ==
        "wide never started: it needs 7 slots, there is 1.");
  CHECK(explained(text, "a", "c", Policy::fifo, 1, 1) ==
        "a started at 0s; c never started: it arrived at 2s when the queue was full (1 waiting).");
}

TEST_CASE("Explain: jobs that share their name are told apart by their lines") {
  const char* text = "name,duration\na,1\nb,1\na,1\n";
  CHECK(explained(text, "@2", "@4", Policy::fifo) ==
        "a of line 2 started at 0s, before a of line 4 (at 2s), because it entered the queue earlier "
        "(sequence 0; a of line 4 has 2).");
  CHECK(explained(text, "b", "@4", Policy::fifo) ==
        "b started at 1s, before a of line 4 (at 2s), because it entered the queue earlier "
        "(sequence 1; a of line 4 has 2).");
}

TEST_CASE("Explain: jobs are found by name, or by line where a name is not enough") {
  Workload workload = csv("name,duration\na,1\nb,1\na,1\n\"@2\",1\n");
  CHECK(find_job(workload, "b") == 1);
  CHECK(find_job(workload, "@4") == 2);
  CHECK(find_job(workload, "@2") == 3);  // a name goes before a line
  CHECK(error_of([&] { find_job(workload, "a"); }) ==
        "--explain: the jobs of lines 2 and 4 are both called \"a\"; expected a name of one job, or a line "
        "such as "
        "@2");
  for (const char* name : {"c", "", "@", "@x", "@-2"}) {
    CHECK(error_of([&] { find_job(workload, name); }) ==
          std::string("--explain: expected the name of a job in jobs.csv, found \"") + name + "\"");
  }
  CHECK(error_of([&] { find_job(workload, "@1"); }) == "--explain: no job on line 1 of jobs.csv");
  CHECK(error_of([&] { find_job(workload, "@9"); }) == "--explain: no job on line 9 of jobs.csv");
}
