#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

#include <bide/executor/executor.hpp>
#include <bide/executor/testing/lesson.hpp>

namespace {

using namespace bide::testing;
using namespace std::chrono_literals;

const Lesson two_sleepers({{1, {sleep(5)}}, {2, {sleep(2), sleep(5)}}});

TEST_CASE("Verdict: a lesson that goes as expected is true") {
  const Verdict verdict = two_sleepers.expect(
      {.trace = {1, 2, 2, 1, 2}, .wakes = {{2, 2}, {1, 5}, {2, 7}}, .now = 7, .ticks = 3});
  CHECK(verdict);
  CHECK(verdict.text().find("first difference") == std::string::npos);
}

TEST_CASE("Verdict: a wrong expectation is false, and the text shows both sides and the first difference") {
  const Verdict verdict =
      two_sleepers.expect({.trace = {1, 2, 1, 2}, .wakes = {{2, 2}, {1, 5}, {2, 5}}, .now = 5, .ticks = 2});
  CHECK_FALSE(verdict);
  CHECK(verdict.text() ==
        "            expected      actual\n"
        "trace 1     1             1\n"
        "trace 2     2             2\n"
        "trace 3     1             2               <-- first difference\n"
        "trace 4     2             1\n"
        "trace 5     -             2\n"
        "wake 1      2@2           2@2\n"
        "wake 2      1@5           1@5\n"
        "wake 3      2@5           2@7\n"
        "now         5             7\n"
        "ticks       2             3\n");
}

TEST_CASE("Verdict: each part of a timeline counts") {
  const Timeline right = two_sleepers.run();
  const auto first_difference = [&](const Timeline& expected) {
    const Verdict verdict(expected, right);
    CHECK_FALSE(verdict);
    std::istringstream lines(verdict.text());
    for (std::string line; std::getline(lines, line);) {
      if (line.find("<-- first difference") != std::string::npos) return line.substr(0, line.find("  "));
    }
    return std::string("none");
  };
  Timeline wrong = right;
  wrong.trace.push_back(1);
  CHECK(first_difference(wrong) == "trace 6");
  wrong = right;
  wrong.wakes[1].program = 2;
  CHECK(first_difference(wrong) == "wake 2");
  wrong = right;
  wrong.wakes[2].now = 8;
  CHECK(first_difference(wrong) == "wake 3");
  wrong = right;
  wrong.wakes.clear();
  CHECK(first_difference(wrong) == "wake 1");
  wrong = right;
  wrong.now = 8;
  CHECK(first_difference(wrong) == "now");
  wrong = right;
  wrong.ticks = 2;
  CHECK(first_difference(wrong) == "ticks");
}

TEST_CASE("Verdict: streams as its text, so that a test framework shows it") {
  const Verdict verdict({.now = 1}, {.now = 2});
  std::ostringstream out;
  out << verdict;
  CHECK(out.str() == '\n' + verdict.text());
}

TEST_CASE("Lesson: no program at all") { CHECK(Lesson({}).expect({})); }

TEST_CASE("Lesson: each run is the same") { CHECK(two_sleepers.run() == two_sleepers.run()); }

TEST_CASE("Lesson: the unit can be chosen, and changes no number") {
  const Timeline seconds = two_sleepers.run();
  CHECK(Lesson({{1, {sleep(5)}}, {2, {sleep(2), sleep(5)}}}, 1ns).run() == seconds);
  CHECK(Lesson({{1, {sleep(5)}}, {2, {sleep(2), sleep(5)}}}, 24h).run() == seconds);
}

TEST_CASE("Lesson: a sleep past the end of time ends at its last instant") {
  const Lesson lesson({{1, {sleep(std::numeric_limits<std::int64_t>::max())}}});
  CHECK(lesson.run().now == std::numeric_limits<std::int64_t>::max() / 1'000'000'000);
}

TEST_CASE("Lesson: a join waits for the other's end") {
  const Lesson lesson({{1, {join(2), sleep(1)}}, {2, {sleep(4)}}, {3, {sleep(4), join(1)}}});
  CHECK(lesson.expect(
      {.trace = {1, 2, 3, 2, 3, 1, 1, 3}, .wakes = {{2, 4}, {3, 4}, {1, 5}}, .now = 5, .ticks = 2}));
}

TEST_CASE("Lesson: programs that join in a circle are a Deadlock") {
  CHECK_THROWS_AS(Lesson({{1, {join(2)}}, {2, {join(1)}}}).run(), bide::Deadlock);
}

TEST_CASE("Lesson: a wrong lesson is refused with what is wrong") {
  CHECK_THROWS_WITH(Lesson({{1, {}}, {3, {}}}),
                    "lesson: program 3 stands at place 2; ids are 1, 2, 3... in the order of submission");
  CHECK_THROWS_AS(Lesson({Program{0}}), std::invalid_argument);
  CHECK_THROWS_WITH(Lesson({{1, {join(2)}}}), "lesson: program 1 joins 2, which is not there");
  CHECK_THROWS_WITH(Lesson({{1, {join(0)}}}), "lesson: program 1 joins 0, which is not there");
  CHECK_THROWS_WITH(Lesson({{1, {join(1)}}}), "lesson: program 1 joins 1, which is itself");
  CHECK_THROWS_WITH(Lesson({{1, {join(2)}}, {2, {}}, {3, {join(2)}}}),
                    "lesson: program 3 joins 2, which is joined already");
  CHECK_THROWS_WITH(Lesson({{1, {}}}, 0s), "lesson: the unit is not positive");
}

}  // namespace
