#pragma once

#include <cstdint>

/// What the global operator new of this program does: it counts, and fails where it is told to.
namespace bide::test::allocations {

extern std::uint64_t count;       // so far
extern std::int64_t alive;        // not deleted yet
extern std::uint64_t fails_from;  // this and later ones fail, as counted above; 0: none
extern std::uint64_t fails_last;  // the last that fails

/// While it lives the allocation with that number from now on fails, counted from 1; or that and all later ones.
class Failing {
 public:
  enum class Which : std::uint8_t { one, all_from };
  Failing(std::uint64_t number, Which which) {
    fails_from = count + number;
    fails_last = which == Which::one ? fails_from : UINT64_MAX;
  }
  ~Failing() { fails_from = 0; }
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;

  /// There were as many.
  static bool reached() { return count >= fails_from; }
};

}  // namespace bide::test::allocations
