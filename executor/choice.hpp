#pragma once

#include <cstddef>
#include <cstdint>

namespace bide {

/// What is left open, and can be decided one way or another.
enum class Choice : std::uint8_t {
  ready_thread,  // which of the ready threads of one class goes next; by itself, the first
};

/// The one door for choices: an executor with a Chooser asks it where it would follow the order.
///
/// For tests: exhaustive and random schedules (executor/testing/schedules.hpp) are Choosers. First come first
/// served among equals is a promise, so a program may lean on it; a Chooser finds what leans on it unawares.
/// Cost: one predictable branch a turn when there is none.
class Chooser {
 public:
  virtual ~Chooser() = default;

  /// Returns: a number below `count`; 0 is what happens without a Chooser. Asked only when count > 1.
  /// `subject`: the id of the thread that would be first.
  virtual std::size_t choose(Choice kind, std::size_t count, std::uint64_t subject) = 0;
};

}  // namespace bide
