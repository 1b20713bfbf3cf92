#include "lanes.hpp"

#include "../random.hpp"
#include "jobs_text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using bide_jobs::FreeLanes;
using bide_jobs::LaneRange;
using Ranges = std::vector<LaneRange>;

TEST_CASE("FreeLanes: the lowest lanes are taken, and neighbours are one range") {
  FreeLanes free;
  CHECK(free.take(2) == Ranges{{0, 2}});
  CHECK(free.take(1) == Ranges{{2, 1}});
  CHECK(free.take(3) == Ranges{{3, 3}});
  free.give_back({{0, 2}});
  free.give_back({{3, 3}});
  CHECK(free.take(4) == Ranges{{0, 2}, {3, 2}});
  free.give_back({{2, 1}});
  CHECK(free.take(3) == Ranges{{2, 1}, {5, 2}});
}

TEST_CASE("FreeLanes: what is given back joins both neighbours") {
  FreeLanes free;
  free.take(3);
  free.give_back({{0, 1}});
  free.give_back({{2, 1}});
  free.give_back({{1, 1}});
  CHECK(free.take(3) == Ranges{{0, 3}});
  CHECK(free.take(0) == Ranges{});
}

TEST_CASE("Lanes: who ends at an instant leaves its workers to who starts then; a refused job has none") {
  const bide_jobs::Workload workload =
      bide::test::csv("name,duration,submit,slots\na,2,0,2\nb,3,0,1\nc,1,2,2\nwide,1,2,4\nd,1,3,3\n");
  const bide_jobs::History history = bide::test::replayed(workload, bide_jobs::Policy::fifo, 3);
  CHECK(bide_jobs::assign_lanes(workload, history) ==
        std::vector<Ranges>{{{0, 2}}, {{2, 1}}, {{0, 2}}, {}, {{0, 3}}});
}

TEST_CASE("Lanes: no lane has two jobs at once, and none lies beyond the workers (model)") {
  bide::test::Random random(20'260'712);
  for (int round = 0; round < 200; ++round) {
    std::string text = "name,duration,submit,slots\n";
    for (int i = 0; i < 60; ++i) {
      text += "j," + std::to_string(random.below(9)) + "," + std::to_string(random.below(60)) + "," +
              std::to_string(1 + random.below(5)) + "\n";
    }
    const bide_jobs::Workload workload = bide::test::csv(text);
    const bide_jobs::History history = bide::test::replayed(workload, bide_jobs::Policy::urgency, 7);
    const std::vector<Ranges> lanes = bide_jobs::assign_lanes(workload, history);
    std::vector<std::chrono::nanoseconds> busy_until(7);
    for (const bide_jobs::Decision& decision : history.decisions) {
      std::int64_t count = 0;
      for (const LaneRange& range : lanes[decision.job]) {
        count += range.count;
        REQUIRE(range.first + range.count <= 7);
        for (std::int64_t lane = range.first; lane < range.first + range.count; ++lane) {
          REQUIRE(busy_until[static_cast<std::size_t>(lane)] <= history.fates[decision.job].started);
          busy_until[static_cast<std::size_t>(lane)] = history.fates[decision.job].ended;
        }
      }
      REQUIRE(count == workload.jobs[decision.job].slots);
    }
  }
}
