// What a score is made of, instant by instant, as the decision log of a JobScheduler tells it.

#include "schedule.hpp"

#include <bide/executor/random.hpp>
#include <catch2/catch.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

constexpr auto low = Priority::low;
constexpr auto normal = Priority::normal;
constexpr auto high = Priority::high;
constexpr auto critical = Priority::critical;

using Scores = std::vector<urgency::Score>;

/// The first decision after the only worker has been taken until `at`.
Decision decision_at(Duration at, std::vector<Planned> plans) {
  std::vector<Planned> all{{.name = "block", .priority = critical, .duration = at}};
  all.insert(all.end(), plans.begin(), plans.end());
  return schedule_of(std::move(all)).decisions[1];
}

/// Aging, urgency and all, in thousandths of a point.
Scores terms_at(Duration at, Planned plan) {
  const Contender contender = decision_at(at, {std::move(plan)}).winner;
  return {contender.aging, contender.urgency, contender.score()};
}

std::string first_at(Duration at, std::vector<Planned> plans) {
  std::vector<Planned> all{{.name = "block", .priority = critical, .duration = at}};
  all.insert(all.end(), plans.begin(), plans.end());
  const std::string ran = timeline_of(std::move(all))[1];
  return ran.substr(0, ran.find('['));
}

}  // namespace

SCENARIO("X: the score of a Normal with a deadline, from its submit to its end") {
  const auto x = [](Duration at) { return terms_at(at, {.name = "x", .deadline = 600s, .hint = 120s}); };
  CHECK(x(0s) == Scores{0, 0, 100'000});
  CHECK(x(100s) == Scores{200'000, 0, 300'000});
  CHECK(x(360s) == Scores{720'000, 0, 820'000});
  CHECK(x(364'120ms) == Scores{728'240, 171'666, 999'906});
  CHECK(x(364'130ms) == Scores{728'260, 172'083, 1'000'343});
  CHECK(x(400s) == Scores{800'000, 1'666'666, 2'566'666});
  CHECK(x(420s) == Scores{800'000, 2'500'000, 3'400'000});
  CHECK(x(480s) == Scores{800'000, 5'000'000, 5'900'000});
  CHECK(x(490s) == Scores{800'000, 6'000'000, 6'900'000});
  CHECK(x(510s) == Scores{800'000, 8'000'000, 8'900'000});
  CHECK(x(600s) == Scores{800'000, 8'000'000, 8'900'000});
}

SCENARIO("X1: it passes a fresh High at 47700/131 s") {
  const auto first = [](Duration at) {
    return first_at(at, {{.name = "x", .deadline = 600s, .hint = 120s},
                         {.name = "high", .priority = high, .duration = 1s, .submit_at = at}});
  };
  CHECK(first(364'120ms) == "high");
  CHECK(first(364'122'100us) == "high");
  CHECK(first(364'122'200us) == "x");
  CHECK(first(364'130ms) == "x");
}

SCENARIO("X2, X3: a Low near its latest start against a fresh High, fresh itself and waiting since 0 s") {
  const auto against_high = [](Duration at, Duration since) {
    std::vector<Planned> plans{
        {.name = "low", .priority = low, .duration = 1s, .deadline = 100s, .submit_at = since},
        {.name = "high", .priority = high, .duration = 1s, .submit_at = at}};
    return first_at(at, std::move(plans));
  };
  CHECK(against_high(94'990ms, 94'990ms) == "high");  // 1000 each: the higher class
  CHECK(against_high(95s, 95s) == "low");
  CHECK(against_high(94'800ms, 0s) == "high");
  CHECK(against_high(94'810ms, 0s) == "low");
  const auto low_at = [](Duration at) {
    return terms_at(at, {.name = "low", .priority = low, .duration = 1s, .deadline = 100s})[2];
  };
  CHECK(low_at(94s) == 198'000);
  CHECK(low_at(94'800ms) == 999'600);
  CHECK(low_at(94'810ms) == 1'009'620);
  CHECK(low_at(95s) == 1'200'000);
}

SCENARIO(
    "X4: who is near its latest start in a higher class goes before who is a second late in a lower one") {
  const Decision decision = decision_at(
      100s, {{.name = "low", .priority = low, .duration = 1s, .deadline = 100s, .submit_at = 100s},
             {.name = "high", .priority = high, .duration = 1s, .deadline = 101'500ms, .submit_at = 100s}});
  CHECK(decision.winner.priority == high);
  CHECK(decision.winner.score() == 5'500'000);
  CHECK(decision.runner_up->score() == 5'110'000);
  CHECK(decision.rule == DecisionRule::score);
}

namespace {
Task<> abuse(JobScheduler& scheduler, Timeline* timeline) {
  const auto hinted = [timeline](Duration hint) {
    Job job(sleep_job, std::string("x"), Duration(1ms), timeline);
    job.kind = "hinted";
    job.priority = low;
    job.deadline_in = 1s;
    job.duration_hint = hint;
    return job;
  };
  for (const Duration hint : {Duration(3600s), Duration(1ms), Duration(1ms), Duration(3600s)}) {
    JobHandle handle = co_await scheduler.submit(hinted(hint));
    co_await handle;
  }
}
}  // namespace

SCENARIO("X5: a false hint buys urgency until its kind is known") {
  Timeline timeline;
  Executor executor({.time = TimeMode::virtual_time});
  JobScheduler scheduler;
  executor.submit(abuse(scheduler, &timeline));
  executor.run();
  const std::vector<Decision> decisions = scheduler.decisions();
  CHECK(decisions[0].winner.score() == 8'010'000);
  // Twice the millisecond that the kind takes: a slack of 998 ms, of 5 s.
  CHECK(decisions[3].winner.score() == 10'000 + 5'000'000 / 5000 * 4002);
}

SCENARIO("G: two points a second in every class, at most 800") {
  const auto scores = [](Duration wait) {
    Scores of_classes;
    for (const Priority priority : {critical, high, normal, low})
      of_classes.push_back(terms_at(wait, {.name = "g", .priority = priority})[2] / 1000);
    return of_classes;
  };
  CHECK(scores(0s) == Scores{10'000, 1'000, 100, 10});
  CHECK(scores(1s) == Scores{10'002, 1'002, 102, 12});
  CHECK(scores(45s) == Scores{10'090, 1'090, 190, 100});
  CHECK(scores(46s) == Scores{10'092, 1'092, 192, 102});
  CHECK(scores(355s) == Scores{10'710, 1'710, 810, 720});
  CHECK(scores(399s) == Scores{10'798, 1'798, 898, 808});
  CHECK(scores(400s) == Scores{10'800, 1'800, 900, 810});
  CHECK(scores(401s) == Scores{10'800, 1'800, 900, 810});
  CHECK(scores(1000s) == Scores{10'800, 1'800, 900, 810});
}

SCENARIO("G1: the most that each class can reach, and nothing below Critical reaches Critical") {
  const auto most = [](Priority priority) {
    return terms_at(
               1000s,
               {.name = "g", .priority = priority, .duration = 1s, .deadline = 100s, .submit_at = 1s})[2] /
           1000;
  };
  CHECK(most(critical) == 18'800);
  CHECK(most(high) == 9'800);
  CHECK(most(normal) == 8'900);
  CHECK(most(low) == 8'810);

  Random random(7);
  std::vector<Planned> plans;
  for (int n = 0; n < 400; ++n) {
    const Duration at = Duration(1s) * (n / 2);
    plans.push_back({.name = "p",
                     .priority = static_cast<Priority>(random.below(4)),
                     .duration = Duration(1s) * static_cast<std::int64_t>(random.below(8)),
                     .submit_at = at});
    if (random.below(2) == 0)
      plans.back().deadline = at + Duration(1s) * static_cast<std::int64_t>(random.below(600));
  }
  std::size_t seen = 0;
  for (const Decision& decision : schedule_of(std::move(plans)).decisions) {
    if (decision.winner.priority == critical || !decision.runner_up) continue;
    CHECK(decision.winner.score() <= urgency::points(9'800));
    CHECK(decision.runner_up->priority != critical);
    ++seen;
  }
  CHECK(seen > 100);
}

SCENARIO("G2: while no wait is capped, a Low counts as a Normal that came 45 s later") {
  for (const Duration at : {50s, 200s, 400s}) {
    const auto first = [at](Duration normal_later) {
      return first_at(at, {{.name = "low", .priority = low, .submit_at = 0s},
                           {.name = "normal", .submit_at = normal_later}});
    };
    CHECK(first(44s) == "normal");
    CHECK(first(45s) == "normal");  // a tie
    CHECK(first(45s + 1ms) == "low");
  }
}

SCENARIO("F: ties that rounding would break are ties, and the higher class goes") {
  const auto tie = [](Duration high_slack, Duration waited, Duration horizon, Duration slack) {
    const Duration at = 1000s;
    const Decision decision = decision_at(
        at,
        {{.name = "normal", .deadline = at + slack + horizon, .hint = horizon, .submit_at = at - waited},
         {.name = "high", .priority = high, .deadline = at + high_slack + 5s, .hint = 5s, .submit_at = at}});
    CHECK(decision.winner.priority == high);
    CHECK(decision.rule == DecisionRule::priority);
    CHECK(decision.runner_up->score() == decision.winner.score());
    return decision.winner.score() / 1000;
  };
  CHECK(tie(2s, 250s, 25s, 8s) == 4'000);
  CHECK(tie(2s, 300s, 50s, 17s) == 4'000);
  CHECK(tie(3s, 0s, 50s, 21s) == 3'000);
  CHECK(tie(3s, 50s, 25s, 11s) == 3'000);
}
