#include "schedule.hpp"

#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

constexpr auto low = Priority::low;
constexpr auto normal = Priority::normal;
constexpr auto high = Priority::high;
constexpr auto critical = Priority::critical;

/// When the Low starts under a flood of Normals of one second each, `rate` of which come in a hundred seconds.
std::string low_starts(int rate, int floods) {
  std::vector<Planned> plans{{.name = "low", .priority = low, .duration = 1s}};
  for (int i = 0; i < floods; ++i)
    plans.push_back({.name = "n", .duration = 1s, .submit_at = Duration(100s) * i / rate});
  for (const std::string& ran : timeline_of(std::move(plans)))
    if (ran.starts_with("low")) return ran;
  return "never";
}

/// "E 10000, A 1000" for a decision between the two, in points.
std::vector<std::string> scores_of(const std::vector<Planned>& plans) {
  std::vector<std::string> texts;
  for (const Decision& decision : schedule_of(plans).decisions) {
    const auto text = [&](const Contender& contender) {
      return plans[contender.id - 1].name + " " + std::to_string(contender.score() / 1000);
    };
    texts.push_back(text(decision.winner));
    if (decision.runner_up) texts.back() += ", " + text(*decision.runner_up);
  }
  return texts;
}

}  // namespace

SCENARIO("S1: class, aging and deadlines together miss nothing") {
  const std::vector<Planned> plans{{.name = "A", .priority = high, .duration = 4s},
                                   {.name = "B", .duration = 2s, .deadline = 10s},
                                   {.name = "C", .priority = low, .duration = 1s, .deadline = 6s},
                                   {.name = "D", .duration = 3s},
                                   {.name = "E", .priority = critical, .duration = 1s}};
  CHECK(timeline_of(plans) == Timeline{"E[0-1]", "C[1-2]", "A[2-6]", "B[6-8]", "D[8-11]"});
  CHECK(scores_of(plans) == std::vector<std::string>{"E 10000, A 1000", "C 1012, A 1002", "A 1004, B 104",
                                                     "B 3112, D 112", "D 116"});
}

SCENARIO("S2: within a class the latest start decides, not the score") {
  const std::vector<Planned> plans{{.name = "A", .duration = 100s, .deadline = 150s},
                                   {.name = "B", .duration = 1s, .deadline = 7s},
                                   {.name = "H1", .priority = high, .duration = 1s},
                                   {.name = "H2", .priority = high, .duration = 1s}};
  CHECK(timeline_of(plans) == Timeline{"H1[0-1]", "H2[1-2]", "B[2-3]", "A[3-103]"});
  // B stands for its lane: A behind it has the better score, and does not count.
  CHECK(scores_of(plans) ==
        std::vector<std::string>{"H1 1000, H2 1000", "H2 1002, B 102", "B 1104, A 2704", "A 2756"});
}

SCENARIO("S3: a Low passes fresh Normals when it has waited 45 s, and a tie is theirs") {
  CHECK(low_starts(100, 60) == "low[46-47]");
}

SCENARIO("S4: equal latest starts go by class") {
  CHECK(timeline_of({{.name = "L", .priority = low, .duration = 1s, .deadline = 3s},
                     {.name = "H", .priority = high, .duration = 1s, .deadline = 3s},
                     {.name = "C", .priority = critical, .duration = 1s, .deadline = 3s},
                     {.name = "N", .duration = 1s, .deadline = 3s}}) ==
        Timeline{"C[0-1]", "H[1-2]", "N[2-3]", "L[3-4]"});
}

SCENARIO(
    "S5: a flood of L times what is done holds a Low up for 45 L s, and for good when that is beyond 400 s") {
  // At 45 L s there is a tie, which is the Normal's; but at 1.25, where no Normal comes at that instant.
  CHECK(low_starts(100, 100) == "low[46-47]");
  CHECK(low_starts(125, 200) == "low[57-58]");
  CHECK(low_starts(200, 200) == "low[91-92]");
  CHECK(low_starts(400, 1000) == "low[181-182]");
  CHECK(low_starts(800, 3600) == "low[361-362]");
  CHECK(low_starts(880, 4000) == "low[397-398]");
  for (const int rate : {890, 900, 1000, 2000}) CHECK(low_starts(rate, 5000) == "low[5000-5001]");
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
  for (const Decision& decision : schedule_of(plans).decisions)
    order.push_back(plans[decision.winner.id - 1].name + ": " +
                    std::to_string(decision.winner.score() / 1000));
  CHECK(order == Timeline{"0: 10000", "1: 10020", "8: 8210", "10: 8020", "9: 5700", "5: 3852", "7: 3012",
                          "2: 1800", "3: 1000", "4: 900", "6: 810"});
}

SCENARIO("More workers take the best jobs first") {
  CHECK(timeline_of({{.name = "a", .duration = 2s},
                     {.name = "b", .duration = 2s},
                     {.name = "c", .priority = high, .duration = 1s}},
                    2) == Timeline{"c[0-1]", "a[0-2]", "b[1-3]"});
}

namespace {
Task<> ask_behind_many(JobScheduler& scheduler, Feasibility* answer, Timeline* urgent) {
  Timeline timeline;
  std::vector<JobHandle> handles;
  for (int i = 0; i < 10'000; ++i) {
    Planned plan{.name = "kind", .priority = i % 2 == 0 ? high : normal, .duration = 1s};
    if (i % 1000 == 1) plan.deadline = Duration(1h) + std::chrono::seconds(i);
    handles.push_back(co_await scheduler.submit(job_of(plan, timeline)));
  }
  Job job = job_of({.name = "kind", .duration = 1s}, timeline);
  job.deadline_in = 3000s;
  *answer = scheduler.feasibility(job);
  JobFilter filter;
  filter.limit = 3;
  for (const JobFilter::Order order :
       {JobFilter::Order::urgency, JobFilter::Order::deadline, JobFilter::Order::id}) {
    filter.order = order;
    for (const JobSummary& summary : scheduler.list(filter)) urgent->push_back(std::to_string(summary.id));
  }
  for (JobHandle& handle : handles) handle.cancel();
}
}  // namespace

TEST_CASE(
    "Feasibility: of a long queue a part is looked at, and the rest counts as that does; lists have an "
    "order") {
  Feasibility answer;
  Timeline urgent;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  scheduler.add_pool("default", {.workers = 10});
  executor.submit(ask_behind_many(scheduler, &answer, &urgent));
  executor.run();
  // All of class high; of its own those with an earlier latest start, which none has.
  CHECK(answer.jobs_ahead == 5'000);
  CHECK(answer.start == Instant(500s));
  CHECK(answer.feasible());
  CHECK(urgent == Timeline{"1", "3", "5", "2", "1002", "2002", "1", "2", "3"});
}
