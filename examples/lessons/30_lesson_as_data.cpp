// Lesson 30: a lesson as data
//
// What you learn: the order of green threads can be written down as data and checked. A Lesson holds small
// programs; `expect` runs them in virtual time and compares who ran when (trace), who woke when (wakes), the
// final time, and the ticks. It needs no test framework: a Verdict is a bool with a text.
//
// Look at: the first is lesson 5 in one line, and it holds. The second expects that equal deadlines cost a
// tick each, which is wrong, and the table says where.
//
// Try: write down what you expect of {1, {sleep(5)}}, {2, {sleep(3)}}, {3, {sleep(5)}} before you run it.

#include <bide/executor/testing/lesson.hpp>

#include <cstdio>

using bide::testing::Lesson;
using bide::testing::sleep;
using bide::testing::Verdict;

int main() {
  const Lesson nearest_first({{1, {sleep(5)}}, {2, {sleep(2), sleep(5)}}});
  const Verdict right = nearest_first.expect(
      {.trace = {1, 2, 2, 1, 2}, .wakes = {{2, 2}, {1, 5}, {2, 7}}, .now = 7, .ticks = 3});
  std::printf("nearest first: %s\n", right ? "as expected" : "not as expected");

  const Lesson equal_deadlines({{1, {sleep(5)}}, {2, {sleep(5)}}});
  const Verdict wrong =
      equal_deadlines.expect({.trace = {1, 2, 1, 2}, .wakes = {{1, 5}, {2, 5}}, .now = 5, .ticks = 2});
  std::printf("equal deadlines: %s\n%s", wrong ? "as expected" : "not as expected", wrong.text().c_str());
}
