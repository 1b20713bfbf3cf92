#include <catch2/catch.hpp>

#include <bide/executor/testing/lesson.hpp>

// Sleepers that are due at different instants: the nearest wakes first, and time jumps only when all sleep.

namespace {

using namespace bide::testing;

SCENARIO("Nearest deadline first, and a second sleep counts from the wake") {
  GIVEN("program 1 sleeps 5, and program 2 sleeps 2, then 5 more") {
    const Lesson lesson({{1, {sleep(5)}}, {2, {sleep(2), sleep(5)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("program 2 wakes at 2, program 1 at 5, and program 2 again at 7, which is 2 + 5") {
        CHECK(Verdict({.trace = {1, 2, 2, 1, 2}, .wakes = {{2, 2}, {1, 5}, {2, 7}}, .now = 7, .ticks = 3},
                      run));
      }
    }
  }
}

SCENARIO("A lone sleeper makes time jump once") {
  GIVEN("one program that sleeps 10") {
    const Lesson lesson({{1, {sleep(10)}}});
    WHEN("it runs") {
      const Timeline run = lesson.run();
      THEN("it gets the CPU twice and wakes at 10, after a single jump") {
        CHECK(Verdict({.trace = {1, 1}, .wakes = {{1, 10}}, .now = 10, .ticks = 1}, run));
      }
    }
  }
}

SCENARIO("The order of submission says nothing about the order of waking") {
  GIVEN("three programs that sleep 3, 1 and 2") {
    const Lesson lesson({{1, {sleep(3)}}, {2, {sleep(1)}}, {3, {sleep(2)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("they wake at 1, 2 and 3: programs 2, 3 and 1, each in a jump of its own") {
        CHECK(Verdict({.trace = {1, 2, 3, 2, 3, 1}, .wakes = {{2, 1}, {3, 2}, {1, 3}}, .now = 3, .ticks = 3},
                      run));
      }
    }
  }
}

SCENARIO("Time stands while anything can run") {
  GIVEN("program 1 yields twice before it sleeps 5, and program 2 sleeps 1") {
    const Lesson lesson({{1, {yield(), yield(), sleep(5)}}, {2, {sleep(1)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("program 1 has its three turns at time 0, and only then does time jump to 1, and to 5") {
        CHECK(Verdict({.trace = {1, 2, 1, 1, 2, 1}, .wakes = {{2, 1}, {1, 5}}, .now = 5, .ticks = 2}, run));
      }
    }
  }
}

SCENARIO("Programs that do nothing end in their first turn") {
  GIVEN("a program that sleeps 1 between two without a step") {
    const Lesson lesson({{1, {}}, {2, {sleep(1)}}, {3, {}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("each has its first turn at time 0, and only the sleeper a second one") {
        CHECK(Verdict({.trace = {1, 2, 3, 2}, .wakes = {{2, 1}}, .now = 1, .ticks = 1}, run));
      }
    }
  }
}

// There are two readings of a sleep of 0. Taken by the letter it arms a timer that is due at once: program 2
// would end first, and a jump from 0 to 0 would count: trace [1, 2, 2, 1], one tick. Here it is a yield:
// nobody is overtaken by one who asked for no time, and a tick always moves the clock.
SCENARIO("A sleep of 0 is a yield and costs no tick") {
  GIVEN("program 1 sleeps 0, and program 2 yields") {
    const Lesson lesson({{1, {sleep(0)}}, {2, {yield()}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("program 1 comes back first, at time 0, and time was never moved") {
        CHECK(Verdict({.trace = {1, 2, 1, 2}, .wakes = {{1, 0}}, .now = 0, .ticks = 0}, run));
      }
    }
  }
  GIVEN("program 1 sleeps for less than nothing, and program 2 yields") {
    const Lesson lesson({{1, {sleep(-3)}}, {2, {yield()}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("it is the same") {
        CHECK(Verdict({.trace = {1, 2, 1, 2}, .wakes = {{1, 0}}, .now = 0, .ticks = 0}, run));
      }
    }
  }
}

SCENARIO("A sleep of a billion seconds is one jump") {
  GIVEN("program 1 sleeps 1,000,000,000, and program 2 sleeps 1") {
    const Lesson lesson({{1, {sleep(1'000'000'000)}}, {2, {sleep(1)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("time jumps to 1 and then to the end: two ticks") {
        CHECK(Verdict(
            {.trace = {1, 2, 2, 1}, .wakes = {{2, 1}, {1, 1'000'000'000}}, .now = 1'000'000'000, .ticks = 2},
            run));
      }
    }
  }
}

}  // namespace
