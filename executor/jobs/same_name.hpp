#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bide {

/// Whether two names are equal, for names that are short and most often are: without a call up to 16 bytes.
inline bool same_name(std::string_view left, std::string_view right) {
  const auto differ = [](const char* a, const char* b, auto word) {
    auto other = word;
    std::memcpy(&word, a, sizeof word);
    std::memcpy(&other, b, sizeof other);
    return word ^ other;
  };
  const std::size_t size = left.size();
  if (size != right.size()) return false;
  if (size < sizeof(std::uint32_t) || size > 2 * sizeof(std::uint64_t)) return left == right;
  // The first and the last bytes, which overlap where the name is shorter than two words.
  const auto both = [&](auto word) {
    const std::size_t last = size - sizeof word;
    return (differ(left.data(), right.data(), word) |
            differ(left.data() + last, right.data() + last, word)) == 0;
  };
  return size >= sizeof(std::uint64_t) ? both(std::uint64_t{}) : both(std::uint32_t{});
}

}  // namespace bide
