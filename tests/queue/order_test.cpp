#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bide/queue/order.hpp>
#include <bide/queue/run_queue.hpp>
#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using bide::Aging;
using bide::Priority;
using bide::QueueNode;
using bide::RunQueue;
using bide::Urgency;
using Time = std::chrono::nanoseconds;

namespace {

constexpr auto low = Priority::low;
constexpr auto normal = Priority::normal;
constexpr auto high = Priority::high;
constexpr auto critical = Priority::critical;

struct Work {
  std::string name;
  Priority priority = normal;
  Time submitted = 0s;
  Time duration = 1s;
  std::optional<Time> deadline = std::nullopt;
  Time estimate = bide::urgency::default_estimate;
};

struct Item : QueueNode {
  explicit Item(const Work& described) : QueueNode(described.priority, &moving), work(described) {
    moving.waiting_since = work.submitted;
    if (work.deadline) moving.latest_start = bide::urgency::latest_start(*work.deadline, work.estimate);
    moving.horizon = bide::urgency::horizon(work.estimate);
  }
  Work work;
  Urgency moving;
};

const Item& item(const QueueNode& node) { return static_cast<const Item&>(node); }

struct Start {
  std::string name;
  std::int64_t second;
  bool operator==(const Start&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Start& start) {
  return out << start.name << '@' << start.second;
}

/// One worker that runs what it pops to its end; `work` is in order of submission.
std::vector<Start> run(const std::vector<Work>& work, Aging aging, Time until = 100000s) {
  std::deque<Item> items;
  RunQueue queue({.aging = aging});
  std::vector<Start> starts;
  std::size_t next = 0;
  for (Time now = 0s; now <= until;) {
    for (; next != work.size() && work[next].submitted <= now; ++next)
      queue.push(items.emplace_back(work[next]));
    if (QueueNode* const node = queue.pop(now)) {
      starts.push_back(
          {item(*node).work.name, std::chrono::duration_cast<std::chrono::seconds>(now).count()});
      now += item(*node).work.duration;
    } else if (next != work.size()) {
      now = work[next].submitted;
    } else {
      break;
    }
  }
  return starts;
}

const std::vector<Work> snapshot = {{"1", critical, 990s},
                                    {"2", high, 500s},
                                    {"3", high, 1000s},
                                    {"4", normal, 100s},
                                    {"5", normal, 999s, 1s, 1010s, 8s},
                                    {"6", low, 0s},
                                    {"7", low, 999s, 1s, 1003s, 1s},
                                    {"8", low, 900s, 1s, 990s, 30s},
                                    {"9", normal, 1000s, 1s, 995s, 1s},
                                    {"10", high, 990s, 1s, 1100s, 120s}};

std::vector<Work> flood(std::int64_t arrivals_in_ten_seconds, std::int64_t count) {
  std::vector<Work> work = {{"low", low}};
  for (std::int64_t i = 0; i < count; ++i)
    work.push_back({"normal", normal, Time(i * 10'000'000'000 / arrivals_in_ten_seconds)});
  return work;
}

std::optional<std::int64_t> low_start(const std::vector<Work>& work, Aging aging, Time until) {
  for (const Start& start : run(work, aging, until))
    if (start.name == "low") return start.second;
  return std::nullopt;
}

}  // namespace

TEST_CASE("order: a snapshot drains by score, with and without the clock's help") {
  std::deque<Item> items;
  RunQueue queue({.aging = Aging::on});
  for (const Work& work : snapshot) queue.push(items.emplace_back(work));
  std::vector<std::string> names;
  std::vector<bide::urgency::Score> scores;
  while (!queue.empty()) {
    const RunQueue::Heads heads = queue.heads(1000s);
    const QueueNode* const peeked = queue.peek(1000s);
    const QueueNode* const popped = queue.pop(1000s);
    CHECK(peeked == popped);
    CHECK(heads.begin()->node == popped);
    names.push_back(item(*popped).work.name);
    scores.push_back(heads.begin()->score);
  }
  CHECK(names == std::vector<std::string>{"1", "8", "10", "9", "5", "7", "2", "3", "4", "6"});
  CHECK(scores == std::vector<bide::urgency::Score>{10'020'000, 8'210'000, 8'020'000, 5'700'000, 3'852'000,
                                                    3'012'000, 1'800'000, 1'000'000, 900'000, 810'000});
}

TEST_CASE("order: the heads of all lanes come best first") {
  std::deque<Item> items;
  RunQueue queue({.aging = Aging::on});
  for (const Work& work : snapshot) queue.push(items.emplace_back(work));
  std::vector<std::pair<std::string, bide::urgency::Score>> seen;
  for (const RunQueue::Heads::Head& head : queue.heads(1000s))
    seen.emplace_back(item(*head.node).work.name, head.score);
  CHECK(seen == std::vector<std::pair<std::string, bide::urgency::Score>>{{"1", 10'020'000},
                                                                          {"8", 8'210'000},
                                                                          {"10", 8'020'000},
                                                                          {"9", 5'700'000},
                                                                          {"2", 1'800'000},
                                                                          {"4", 900'000},
                                                                          {"6", 810'000}});
  CHECK(RunQueue().heads(0s).count == 0);
}

TEST_CASE("order: low work that is due goes before high work that is not") {
  const std::vector<Work> work = {{"A", high, 0s, 4s},
                                  {"B", normal, 0s, 2s, 10s, 2s},
                                  {"C", low, 0s, 1s, 6s, 1s},
                                  {"D", normal, 0s, 3s},
                                  {"E", critical, 0s, 1s}};
  CHECK(run(work, Aging::on) == std::vector<Start>{{"E", 0}, {"C", 1}, {"A", 2}, {"B", 6}, {"D", 8}});

  std::vector<Work> without_deadlines = work;
  for (Work& one : without_deadlines) one.deadline.reset();
  CHECK(run(without_deadlines, Aging::off) ==
        std::vector<Start>{{"E", 0}, {"A", 1}, {"B", 5}, {"D", 7}, {"C", 10}});
}

TEST_CASE("order: within a class the earlier latest start goes first, whatever the scores") {
  const std::vector<Work> work = {{"A", normal, 0s, 100s, 150s, 100s},
                                  {"B", normal, 0s, 1s, 7s, 1s},
                                  {"H1", high, 0s, 1s},
                                  {"H2", high, 0s, 1s}};
  CHECK(run(work, Aging::on) == std::vector<Start>{{"H1", 0}, {"H2", 1}, {"B", 2}, {"A", 3}});
  CHECK(run(work, Aging::off) == std::vector<Start>{{"H1", 0}, {"H2", 1}, {"B", 2}, {"A", 3}});
}

TEST_CASE("order: with aging low work overtakes a steady stream of normal work") {
  const std::vector<Work> work = flood(10, 60);
  CHECK(low_start(work, Aging::on, 1000s) == 46);  // at 45 s it draws level, and the higher class wins a tie
  CHECK(low_start(work, Aging::off, 1000s) == 60);
}

TEST_CASE("order: equal urgency leaves the class to decide") {
  const std::vector<Work> work = {{"L", low, 0s, 1s, 3s, 1s},
                                  {"H", high, 0s, 1s, 3s, 1s},
                                  {"C", critical, 0s, 1s, 3s, 1s},
                                  {"N", normal, 0s, 1s, 3s, 1s}};
  CHECK(run(work, Aging::on) == std::vector<Start>{{"C", 0}, {"H", 1}, {"N", 2}, {"L", 3}});
}

TEST_CASE("order: aging bounds the wait only up to nine arrivals a service") {
  // Low work starts at the first second after 45 times the load: there the oldest normal work is 45 s
  // younger.
  const auto start = [](std::int64_t tenths) {
    return low_start(flood(tenths, tenths * 300), Aging::on, 2000s);
  };
  const auto start_of_load_one_and_a_quarter = [] {
    std::vector<Work> work = {{"low", low}};
    for (std::int64_t i = 0; i < 1000; ++i) work.push_back({"normal", normal, i * 800ms});
    return low_start(work, Aging::on, 800s);
  };
  CHECK(start(10) == 46);
  CHECK(start_of_load_one_and_a_quarter() == 57);
  CHECK(start(20) == 91);
  CHECK(start(40) == 181);
  CHECK(start(80) == 361);
  CHECK(start(88) == 397);
  CHECK(start(89) == std::nullopt);
  CHECK(start(90) == std::nullopt);
  CHECK(start(100) == std::nullopt);
  CHECK(start(200) == std::nullopt);
}

TEST_CASE(
    "order: a tie of scores goes to the higher class, then the earlier latest start, then the sequence") {
  using bide::goes_before;
  using bide::Rank;
  const Rank rank{.score = 5, .priority = normal, .latest_start = 10s, .sequence = 7};
  const auto before_only = [](const Rank& left, const Rank& right) {
    return goes_before(left, right) && !goes_before(right, left);
  };
  CHECK(before_only({6, low, Urgency::none, 9}, rank));
  CHECK(before_only({5, high, Urgency::none, 9}, rank));
  CHECK(before_only({5, normal, 9s, 9}, rank));
  CHECK(before_only(rank, {5, normal, Urgency::none, 1}));
  CHECK(before_only({5, normal, 10s, 6}, rank));
  CHECK(!goes_before(rank, rank));
}

TEST_CASE("order: exact ties pick the higher class") {
  struct Side {
    Time wait, horizon, slack;
  };
  for (const auto& [of_high, of_normal] :
       std::vector<std::pair<Side, Side>>{{{0s, 5s, 2s}, {250s, 25s, 8s}},
                                          {{0s, 5s, 2s}, {300s, 50s, 17s}},
                                          {{0s, 5s, 3s}, {0s, 50s, 21s}},
                                          {{0s, 5s, 3s}, {50s, 25s, 11s}}}) {
    const auto moving = [](const Side& side) {
      return Urgency{
          .latest_start = 1000s + side.slack, .horizon = side.horizon, .waiting_since = 1000s - side.wait};
    };
    Urgency first = moving(of_normal);
    Urgency second = moving(of_high);
    QueueNode normal_node(normal, &first);
    QueueNode high_node(high, &second);
    RunQueue queue({.aging = Aging::on});
    queue.push(normal_node);
    queue.push(high_node);
    CHECK(queue.pop(1000s) == &high_node);
    CHECK(queue.pop(1000s) == &normal_node);
  }
}

TEST_CASE("order: low work that draws level with fresh high work waits") {
  for (const auto& [now, low_first] : std::vector<std::pair<Time, bool>>{{94'990ms, false}, {95s, true}}) {
    Urgency due{.latest_start = 99s, .horizon = 5s, .waiting_since = now};
    Urgency fresh{.waiting_since = now};
    QueueNode low_node(low, &due);
    QueueNode high_node(high, &fresh);
    RunQueue queue({.aging = Aging::on});
    queue.push(low_node);
    queue.push(high_node);
    CHECK((queue.pop(now) == &low_node) == low_first);
  }
}
