#include "statistics.hpp"

#include "jobs_text.hpp"

#include <catch2/catch.hpp>

#include <vector>

using bide::Priority;
using bide::test::csv;
using bide::test::replayed;
using bide_jobs::measure;
using bide_jobs::Policy;
using bide_jobs::Statistics;
using bide_jobs::Tally;
using bide_jobs::Waits;
using bide_jobs::Workload;
using namespace std::chrono_literals;

namespace {

std::vector<std::chrono::nanoseconds> one_to(int count) {
  std::vector<std::chrono::nanoseconds> waits;
  for (int i = count; i >= 1; --i) waits.emplace_back(i);
  return waits;
}

const Tally& tally(const Statistics& statistics, Priority priority) {
  return statistics.by_class[static_cast<std::size_t>(priority)];
}

}  // namespace

TEST_CASE("Statistics: percentiles are the nearest rank, so waits that occurred") {
  CHECK(measure(one_to(1)).p50 == 1ns);
  CHECK(measure(one_to(1)).p99 == 1ns);
  CHECK(measure(one_to(2)).p50 == 1ns);
  CHECK(measure(one_to(3)).p50 == 2ns);
  CHECK(measure(one_to(99)).p99 == 99ns);
  CHECK(measure(one_to(100)).p99 == 99ns);
  CHECK(measure(one_to(101)).p99 == 100ns);
  CHECK(measure(one_to(1000)).p50 == 500ns);
  CHECK(measure(one_to(1000)).max == 1000ns);
}

TEST_CASE("Statistics: the mean is exact, half a nanosecond rounds up") {
  CHECK(measure({1ns, 2ns}).mean == 2ns);
  CHECK(measure({1ns, 1ns, 2ns}).mean == 1ns);
  CHECK(measure({std::chrono::nanoseconds::max(), std::chrono::nanoseconds::max()}).mean ==
        std::chrono::nanoseconds::max());
}

TEST_CASE("Statistics: no waits measure zero") {
  Waits waits = measure({});
  CHECK(waits.mean == 0ns);
  CHECK(waits.p99 == 0ns);
}

TEST_CASE("Statistics: counts, misses and waits of each class (vector S1, strict)") {
  Workload workload =
      csv("name,priority,duration,deadline,hint\n"
          "A,high,4,,\nB,normal,2,10,2\nC,low,1,6,1\nD,normal,3,,\nE,critical,1,,\n");
  Statistics statistics = summarize(workload, replayed(workload, Policy::strict), 1);
  CHECK(statistics.all.done_count == 5);
  CHECK(statistics.all.deadline_count == 2);
  CHECK(statistics.all.missed_count == 1);
  CHECK(tally(statistics, Priority::low).missed_count == 1);
  CHECK(tally(statistics, Priority::normal).job_count == 2);
  CHECK(tally(statistics, Priority::normal).waits.mean == 6s);
  CHECK(statistics.all.waits.mean == 4600ms);
  CHECK(statistics.all.waits.p50 == 5s);
  CHECK(statistics.all.waits.p99 == 10s);
  CHECK(statistics.makespan == 11s);
  CHECK(statistics.utilisation_permille == 1000);
}

TEST_CASE("Statistics: a deadline is met by ending at it") {
  Workload workload = csv("name,duration,deadline\na,5,5\nb,5,9.999999999\n");
  CHECK(summarize(workload, replayed(workload, Policy::fifo), 1).all.missed_count == 1);
}

TEST_CASE("Statistics: utilisation is slots held of slots offered until the last job ends") {
  Workload workload = csv("name,submit,duration,slots\na,0,1,2\nb,2,1,1\n");
  CHECK(summarize(workload, replayed(workload, Policy::fifo, 3), 3).utilisation_permille == 333);
  CHECK(summarize(workload, replayed(workload, Policy::fifo, 2), 2).utilisation_permille == 500);
}

TEST_CASE("Statistics: refused jobs are counted by reason and wait for nothing") {
  Workload workload =
      csv("name,submit,duration,slots,deadline\na,0,9,1,\nwide,0,1,2,1\nb,1,1,1,\nc,2,1,1,1\n");
  Statistics statistics = summarize(workload, replayed(workload, Policy::fifo, 1, 1), 1);
  CHECK(statistics.all.job_count == 4);
  CHECK(statistics.all.done_count == 2);
  CHECK(statistics.all.refused_count == 2);
  CHECK(statistics.queue_full_count == 1);
  CHECK(statistics.too_wide_count == 1);
  CHECK(statistics.all.deadline_count == 0);
}

TEST_CASE("Statistics: nothing done means no utilisation") {
  Workload workload = csv("name,duration\na,0\n");
  CHECK(summarize(workload, replayed(workload, Policy::fifo), 1).utilisation_permille == 0);
}
