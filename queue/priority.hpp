#pragma once

#include <cstddef>
#include <cstdint>

namespace bide {

/// The four classes of work, lowest first. A higher class goes before a lower one.
enum class Priority : std::uint8_t { low, normal, high, critical };

inline constexpr std::size_t priority_count = 4;

constexpr const char* to_string(Priority priority) {
  constexpr const char* names[priority_count] = {"low", "normal", "high", "critical"};
  return names[static_cast<std::size_t>(priority)];
}

}  // namespace bide
