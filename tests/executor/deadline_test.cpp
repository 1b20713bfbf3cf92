#include <catch2/catch.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "timeline.hpp"

// The executor's order by urgency, without aging. Time stands still while a thread runs, so work that takes
// time is a thread that moves a clock given to an executor in real time; the loop looks at it after every
// turn.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Timeline;
using bide::test::virtual_time;
using Ids = std::vector<int>;

constexpr Priority low = Priority::low;
constexpr Priority normal = Priority::normal;
constexpr Priority high = Priority::high;
constexpr Priority critical = Priority::critical;

class ManualClock final : public Clock {
 public:
  Instant now() override { return time; }
  Instant time{};
};

Task<> note(Ids& ids, int id) {
  ids.push_back(id);
  co_return;
}

struct Work {
  char name;
  Priority priority;
  std::optional<Instant> deadline;
  std::chrono::seconds duration;
};

Task<> works(Timeline& timeline, ManualClock& clock, char name, std::chrono::seconds duration) {
  const auto begin = clock.time.time_since_epoch() / 1s;
  clock.time += duration;
  const auto end = clock.time.time_since_epoch() / 1s;
  timeline.push_back(std::string(1, name) + "[" + std::to_string(begin) + "-" + std::to_string(end) + "]");
  co_return;
}

template <std::size_t size>
Timeline one_worker(const std::array<Work, size>& work) {
  Timeline timeline;
  ManualClock clock;
  Executor executor({.time = TimeMode::real_time, .resumes_per_turn = 1, .clock = &clock});
  for (const Work& each : work) {
    executor.submit(works(timeline, clock, each.name, each.duration),
                    {.priority = each.priority, .deadline = each.deadline, .duration_hint = each.duration});
  }
  executor.run();
  return timeline;
}

constexpr Instant at(std::chrono::seconds seconds) { return Instant(seconds); }

TEST_CASE("Deadline: urgent work goes before a higher class, and never before critical work") {
  CHECK(one_worker(std::array{Work{'A', high, {}, 4s}, Work{'B', normal, at(10s), 2s},
                              Work{'C', low, at(6s), 1s}, Work{'D', normal, {}, 3s},
                              Work{'E', critical, {}, 1s}}) ==
        Timeline{"E[0-1]", "C[1-2]", "A[2-6]", "B[6-8]", "D[8-11]"});
}

TEST_CASE("Deadline: inside a class the earlier latest start goes first, whatever the score") {
  CHECK(one_worker(std::array{Work{'A', normal, at(150s), 100s}, Work{'B', normal, at(7s), 1s},
                              Work{'G', high, {}, 1s}, Work{'H', high, {}, 1s}}) ==
        Timeline{"G[0-1]", "H[1-2]", "B[2-3]", "A[3-103]"});
}

TEST_CASE("Deadline: equal urgency leaves the order to the classes") {
  CHECK(one_worker(std::array{Work{'L', low, at(3s), 1s}, Work{'H', high, at(3s), 1s},
                              Work{'C', critical, at(3s), 1s}, Work{'N', normal, at(3s), 1s}}) ==
        Timeline{"C[0-1]", "H[1-2]", "N[2-3]", "L[3-4]"});
}

TEST_CASE("Deadline: a snapshot of all kinds drains in the order of the scores") {
  struct Row {
    Priority priority;
    std::optional<Instant> deadline;
    std::optional<Duration> hint;
  };
  const Row rows[] = {{critical, {}, {}},     {high, {}, {}},          {high, {}, {}},
                      {normal, {}, {}},       {normal, at(1010s), 8s}, {low, {}, {}},
                      {low, at(1003s), 1s},   {low, at(990s), 30s},    {normal, at(995s), 1s},
                      {high, at(1100s), 120s}};
  Ids ids;
  Executor executor(virtual_time);
  executor.run_until(at(1000s));
  int id = 0;
  for (const Row& row : rows) {
    executor.submit(note(ids, ++id),
                    {.priority = row.priority, .deadline = row.deadline, .duration_hint = row.hint});
  }
  executor.run();
  CHECK(ids == Ids{1, 8, 10, 9, 5, 7, 2, 3, 4, 6});
}

TEST_CASE("Deadline: ties go to the thread that has one, then to the sequence") {
  Ids ids;
  Executor executor(virtual_time);
  executor.submit(note(ids, 1));
  executor.submit(note(ids, 2), {.deadline = at(1000s)});
  executor.submit(note(ids, 3), {.deadline = at(900s)});
  executor.submit(note(ids, 4), {.deadline_in = 900s});
  executor.submit(note(ids, 5), {.deadline = at(902s), .duration_hint = 4s});
  executor.run();
  CHECK(ids == Ids{5, 3, 4, 2, 1});
}

TEST_CASE("Deadline: of deadline and deadline_in the earlier counts, from the clock at the submit") {
  Ids ids;
  Executor executor(virtual_time);
  executor.run_until(at(100s));
  executor.submit(note(ids, 1), {.deadline = at(2000s), .deadline_in = 400s});  // 500
  executor.submit(note(ids, 2), {.deadline = at(300s), .deadline_in = 400s});   // 300
  executor.submit(note(ids, 3), {.deadline_in = 300s});                         // 400
  executor.run();
  CHECK(ids == Ids{2, 3, 1});
}

Task<> note_at(Ids& ids, int id, Duration sleep) {
  ids.push_back(id);
  co_await Sleep(sleep);
  ids.push_back(id);
}

TEST_CASE("Deadline: it stays with the thread through its waits") {
  Ids ids;
  Executor executor(virtual_time);
  executor.submit(note_at(ids, 1, 10s));
  executor.submit(note_at(ids, 2, 10s), {.priority = high});
  executor.submit(note_at(ids, 3, 10s), {.priority = low, .deadline = at(12s)});
  executor.run();
  CHECK(ids == Ids{2, 1, 3, 3, 2, 1});
}

TEST_CASE("Deadline: extreme deadlines and estimates neither overflow nor lose a thread") {
  Ids ids;
  Executor executor(virtual_time);
  executor.submit(note(ids, 1), {.deadline = Instant::max()});
  executor.submit(note(ids, 2), {.deadline = Instant::min()});
  executor.submit(note(ids, 3), {.deadline_in = Duration::min()});
  executor.submit(note(ids, 4), {.deadline_in = Duration::max(), .duration_hint = Duration::max()});
  executor.submit(note(ids, 5), {.deadline = Instant::min(), .duration_hint = Duration::max()});
  executor.submit(note(ids, 6), {.deadline = at(5s), .duration_hint = 0s});
  executor.run();
  CHECK(ids.size() == 6);
  CHECK(ids.back() != 2);
}

}  // namespace
