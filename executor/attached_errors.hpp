#pragma once

#include <cstddef>
#include <exception>
#include <vector>

namespace bide {

/// The errors that came after the one that a group throws, kept beside it: the thrown object itself is the
/// one that the thread threw, so it has no room for them.
///
/// An error that leaves several groups collects those of all of them. What is attached has its own attached.
/// Bounded: those of the latest `kept_count` thrown errors are kept, the first `most_of_one` of each, and die with the
/// executor.
class AttachedErrors {
 public:
  static constexpr std::size_t kept_count = 64;
  static constexpr std::size_t most_of_one = 10'000;

  void attach(const std::exception_ptr& first, const std::vector<std::exception_ptr>& others);
  /// In the order in which they came; empty when there are none.
  std::vector<std::exception_ptr> of(const std::exception_ptr& first) const;

 private:
  struct Entry {
    std::exception_ptr first;
    std::vector<std::exception_ptr> others;
  };
  std::vector<Entry> entries_;  // oldest first
};

}  // namespace bide
