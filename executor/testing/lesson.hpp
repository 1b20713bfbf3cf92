#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <bide/queue/priority.hpp>
#include <bide/timers/instant.hpp>

/// Lessons: small programs of green threads as data, with all that their schedule shows. For tests of one's
/// own, under any test framework:
///
///     Lesson lesson({{1, {sleep(5)}}, {2, {sleep(2), sleep(5)}}});
///     CHECK(lesson.expect({.trace = {1, 2, 2, 1, 2},
///                          .wakes = {{2, 2}, {1, 5}, {2, 7}},
///                          .now = 7,
///                          .ticks = 3}));
namespace bide::testing {

/// One thing that a program does; made by `sleep`, `yield` and `join`.
struct Step {
  enum class Kind : std::uint8_t { sleep, yield, join };
  Kind kind;
  std::int64_t operand;  // units to sleep, or the program to join
};

/// Sleeps so many units, then notes a wake. Zero and less is a yield, and notes one as well.
// A template: with a plain parameter, a using directive would make `sleep(5)` ambiguous with the one of
// POSIX, which standard headers bring along.
template <std::signed_integral Integer>
constexpr Step sleep(Integer units) {
  return {Step::Kind::sleep, units};
}
constexpr Step yield() { return {Step::Kind::yield, 0}; }
/// Waits until the other program has ended. A program is joined once at most.
constexpr Step join(std::int64_t program) { return {Step::Kind::join, program}; }

/// What one green thread does, in order; it ends after the last step.
struct Program {
  std::uint64_t id;  // its place in the lesson, from 1: programs are submitted in that order
  std::vector<Step> steps{};
  Priority priority = Priority::normal;
};

/// That a program's sleep ended, and the time it then saw, in units: `2@7` in texts.
struct Wake {
  std::uint64_t program;
  std::int64_t now;

  friend bool operator==(const Wake&, const Wake&) = default;
};

/// All that a run of a lesson shows.
struct Timeline {
  std::vector<std::uint64_t> trace{};  // the program's id each time one gets the CPU
  std::vector<Wake> wakes{};           // in the order in which the programs saw them
  std::int64_t now = 0;                // at the end, in units
  std::uint64_t ticks = 0;             // how often virtual time was moved

  friend bool operator==(const Timeline&, const Timeline&) = default;
};

/// Whether a lesson went as expected; streams as its text, so that test frameworks print it on failure.
class Verdict {
 public:
  Verdict(const Timeline& expected, const Timeline& actual);

  explicit operator bool() const { return as_expected_; }

  /// A table with a row for each entry, expected and actual side by side, the first difference marked.
  const std::string& text() const { return text_; }

  friend std::ostream& operator<<(std::ostream&, const Verdict&);

 private:
  bool as_expected_;
  std::string text_;
};

/// Programs that start together at time 0, to be run in virtual time on an executor of their own.
class Lesson {
 public:
  /// Throws: std::invalid_argument when the ids aren't 1, 2, 3... in this order, when a join names no other
  ///         program or one that is joined already, or when the unit is not positive: a wrong lesson fails
  ///         its own test, and no other.
  explicit Lesson(std::vector<Program> programs, Duration unit = std::chrono::seconds(1));

  /// Throws: Deadlock, when programs join in a circle.
  /// May be called again; each run is the same.
  Timeline run() const;

  /// Runs, and compares.
  Verdict expect(const Timeline& expected) const { return Verdict(expected, run()); }

 private:
  std::vector<Program> programs_;
  Duration unit_;
};

}  // namespace bide::testing
