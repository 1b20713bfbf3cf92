#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bide_http {

/// Part of a file: bytes [first, first + count).
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// What a Range header asks for of a file of `size` bytes.
struct RangeAnswer {
  enum class Kind { whole, part, unsatisfiable };
  Kind kind = Kind::whole;
  ByteRange part{};
};

/// One range of bytes is answered; several, another unit, or what is no range at all count as none: the whole file.
/// Source: RFC 9110, section 14.
RangeAnswer answer_range(std::string_view header, std::uint64_t size);

}  // namespace bide_http
