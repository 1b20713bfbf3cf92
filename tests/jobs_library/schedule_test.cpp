#include "schedule.hpp"

#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

constexpr auto low = Priority::low;
constexpr auto normal = Priority::normal;
constexpr auto high = Priority::high;
constexpr auto critical = Priority::critical;

/// The second in which the Low starts under a flood of Normals, one each `gap`, each of one second.
std::string low_starts(Duration gap, std::size_t floods) {
  std::vector<Planned> plans{{.name = "low", .priority = low, .duration = 1s}};
  for (std::size_t i = 0; i < floods; ++i)
    plans.push_back({.name = "n", .duration = 1s, .submit_at = static_cast<std::int64_t>(i) * gap});
  for (const std::string& ran : timeline_of(std::move(plans)))
    if (ran.starts_with("low")) return ran;
  return "never";
}

}  // namespace

SCENARIO("S1: class, aging and deadlines together miss nothing") {
  CHECK(timeline_of({{.name = "A", .priority = high, .duration = 4s},
                     {.name = "B", .duration = 2s, .deadline = 10s},
                     {.name = "C", .priority = low, .duration = 1s, .deadline = 6s},
                     {.name = "D", .duration = 3s},
                     {.name = "E", .priority = critical, .duration = 1s}}) ==
        Timeline{"E[0-1]", "C[1-2]", "A[2-6]", "B[6-8]", "D[8-11]"});
}

SCENARIO("S2: within a class the latest start decides, not the score") {
  CHECK(timeline_of({{.name = "A", .duration = 100s, .deadline = 150s},
                     {.name = "B", .duration = 1s, .deadline = 7s},
                     {.name = "H1", .priority = high, .duration = 1s},
                     {.name = "H2", .priority = high, .duration = 1s}}) ==
        Timeline{"H1[0-1]", "H2[1-2]", "B[2-3]", "A[3-103]"});
}

SCENARIO("S3: a Low passes fresh Normals when it has waited 45 s, and a tie is theirs") {
  CHECK(low_starts(1s, 60) == "low[46-47]");
}

SCENARIO("S4: equal latest starts go by class") {
  CHECK(timeline_of({{.name = "L", .priority = low, .duration = 1s, .deadline = 3s},
                     {.name = "H", .priority = high, .duration = 1s, .deadline = 3s},
                     {.name = "C", .priority = critical, .duration = 1s, .deadline = 3s},
                     {.name = "N", .duration = 1s, .deadline = 3s}}) ==
        Timeline{"C[0-1]", "H[1-2]", "N[2-3]", "L[3-4]"});
}

SCENARIO("S5: a flood at twice what is done holds a Low up for twice as long; at nine times for ever") {
  CHECK(low_starts(500ms, 200) == "low[91-92]");
  CHECK(low_starts(125ms, 3600) == "low[361-362]");
  CHECK(low_starts(100ms, 6000) == "low[6000-6001]");
}

SCENARIO("Q: a snapshot drains in the order of the scores") {
  struct Row {
    const char* name;
    Priority priority;
    Duration submitted;
    std::optional<Duration> deadline;
    Duration estimate;
  };
  std::vector<Planned> plans{{.name = "0", .priority = critical, .duration = 1000s}};
  for (const Row& row :
       {Row{"6", low, 0s, {}, 1s}, Row{"4", normal, 100s, {}, 1s}, Row{"2", high, 500s, {}, 1s},
        Row{"8", low, 900s, 990s, 30s}, Row{"1", critical, 990s, {}, 1s}, Row{"10", high, 990s, 1100s, 120s},
        Row{"5", normal, 999s, 1010s, 8s}, Row{"7", low, 999s, 1003s, 1s}, Row{"3", high, 1000s, {}, 1s},
        Row{"9", normal, 1000s, 995s, 1s}})
    plans.push_back({.name = row.name,
                     .priority = row.priority,
                     .deadline = row.deadline,
                     .hint = row.estimate,
                     .submit_at = row.submitted});
  Timeline order;
  for (const std::string& ran : timeline_of(std::move(plans))) order.push_back(ran.substr(0, ran.find('[')));
  CHECK(order == Timeline{"0", "1", "8", "10", "9", "5", "7", "2", "3", "4", "6"});
}

SCENARIO("More workers take the best jobs first") {
  CHECK(timeline_of({{.name = "a", .duration = 2s},
                     {.name = "b", .duration = 2s},
                     {.name = "c", .priority = high, .duration = 1s}},
                    2) == Timeline{"c[0-1]", "a[0-2]", "b[1-3]"});
}
