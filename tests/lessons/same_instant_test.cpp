#include <catch2/catch.hpp>

#include <bide/executor/testing/lesson.hpp>

// Sleepers that are due at one instant: one jump releases them all, in the order in which they fell asleep. A
// timer list that knows only the instant, or breaks the tie by the program's id, fails most of these.

namespace {

using namespace bide::testing;

SCENARIO("Equal deadlines fire together on one tick, oldest first") {
  GIVEN("programs 1 and 3 sleep 5, and program 2 between them sleeps 3") {
    const Lesson lesson({{1, {sleep(5)}}, {2, {sleep(3)}}, {3, {sleep(5)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("program 2 wakes alone at 3, then 1 and 3 at 5 in a single jump") {
        CHECK(Verdict({.trace = {1, 2, 3, 2, 1, 3}, .wakes = {{2, 3}, {1, 5}, {3, 5}}, .now = 5, .ticks = 2},
                      run));
      }
    }
  }
}

SCENARIO("Five sleepers, one jump") {
  GIVEN("five programs that sleep 7") {
    const Lesson lesson(
        {{1, {sleep(7)}}, {2, {sleep(7)}}, {3, {sleep(7)}}, {4, {sleep(7)}}, {5, {sleep(7)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("all wake at 7 in the order of submission, and the clock has ticked once") {
        CHECK(Verdict({.trace = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5},
                       .wakes = {{1, 7}, {2, 7}, {3, 7}, {4, 7}, {5, 7}},
                       .now = 7,
                       .ticks = 1},
                      run));
      }
    }
  }
}

SCENARIO("Two rhythms meet: who fell asleep earlier wakes first") {
  GIVEN("program 1 sleeps 2 three times, and program 2 sleeps 3 twice") {
    const Lesson lesson({{1, {sleep(2), sleep(2), sleep(2)}}, {2, {sleep(3), sleep(3)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("at 6 program 2 goes first: it fell asleep at 3, and program 1 at 4") {
        CHECK(Verdict({.trace = {1, 2, 1, 2, 1, 2, 1},
                       .wakes = {{1, 2}, {2, 3}, {1, 4}, {2, 6}, {1, 6}},
                       .now = 6,
                       .ticks = 4},
                      run));
      }
    }
  }
}

SCENARIO("Many short sleeps meet one long sleep") {
  GIVEN("program 1 sleeps 1 four times, and program 2 sleeps 4") {
    const Lesson lesson({{1, {sleep(1), sleep(1), sleep(1), sleep(1)}}, {2, {sleep(4)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("at 4 the long sleeper goes first, although it was submitted second") {
        CHECK(Verdict({.trace = {1, 2, 1, 1, 1, 2, 1},
                       .wakes = {{1, 1}, {1, 2}, {1, 3}, {2, 4}, {1, 4}},
                       .now = 4,
                       .ticks = 4},
                      run));
      }
    }
  }
  GIVEN("the same with the long sleeper submitted first") {
    const Lesson lesson({{1, {sleep(4)}}, {2, {sleep(1), sleep(1), sleep(1), sleep(1)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("at 4 the long sleeper goes first again") {
        CHECK(Verdict({.trace = {1, 2, 2, 2, 2, 1, 2},
                       .wakes = {{2, 1}, {2, 2}, {2, 3}, {1, 4}, {2, 4}},
                       .now = 4,
                       .ticks = 4},
                      run));
      }
    }
  }
}

SCENARIO("A second sleep ends with another's first") {
  GIVEN("program 1 sleeps 5 twice, and program 2 sleeps 10") {
    const Lesson lesson({{1, {sleep(5), sleep(5)}}, {2, {sleep(10)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("at 10 program 2 goes first: it has slept since 0, and program 1 since 5") {
        CHECK(Verdict({.trace = {1, 2, 1, 2, 1}, .wakes = {{1, 5}, {2, 10}, {1, 10}}, .now = 10, .ticks = 2},
                      run));
      }
    }
  }
}

SCENARIO("Three sleepers with three pasts meet at one instant") {
  GIVEN("program 1 sleeps 3 and 2, program 2 sleeps 5, and program 3 sleeps 1 and 4") {
    const Lesson lesson({{1, {sleep(3), sleep(2)}}, {2, {sleep(5)}}, {3, {sleep(1), sleep(4)}}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("at 5 they wake in the order in which they fell asleep: 2 at 0, 3 at 1, 1 at 3") {
        CHECK(Verdict({.trace = {1, 2, 3, 3, 1, 2, 3, 1},
                       .wakes = {{3, 1}, {1, 3}, {2, 5}, {3, 5}, {1, 5}},
                       .now = 5,
                       .ticks = 3},
                      run));
      }
    }
  }
}

SCENARIO("A higher class goes first among those that one instant releases") {
  GIVEN("three programs that sleep 5: of class low, normal and high") {
    using bide::Priority;
    const Lesson lesson(
        {{1, {sleep(5)}, Priority::low}, {2, {sleep(5)}, Priority::normal}, {3, {sleep(5)}, Priority::high}});
    WHEN("they run") {
      const Timeline run = lesson.run();
      THEN("they start and wake by class, in one jump") {
        CHECK(Verdict({.trace = {3, 2, 1, 3, 2, 1}, .wakes = {{3, 5}, {2, 5}, {1, 5}}, .now = 5, .ticks = 1},
                      run));
      }
    }
  }
}

}  // namespace
