#pragma once

#include <chrono>
#include <cstdint>

namespace bide {

/// `left - right`, or the shortest or longest duration where the difference lies beyond it.
[[nodiscard]] constexpr std::chrono::nanoseconds subtract_saturating(
    std::chrono::nanoseconds left, std::chrono::nanoseconds right) noexcept {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(left.count(), right.count(), &difference))
    return std::chrono::nanoseconds(difference);
  return right.count() < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds::min();
}

}  // namespace bide
