#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bide_jobs {

/// A time or what was expected instead of it: exactly one of the two.
struct ParsedTime {
  std::chrono::nanoseconds value{0};
  const char* expected = nullptr;
};

/// Reads `90`, `1.5s`, `10m`, `2h`: a decimal number of zero or more and a unit of ns, us, ms, s, m, h, d
/// (seconds where there is none). Exact: what is finer than a nanosecond or more than 292 years is refused.
ParsedTime parse_time(std::string_view text);

/// A decimal factor such as `3` or `1.5`: above zero, at most 1,000,000,000, at most 9 decimals.
class Factor {
 public:
  static std::optional<Factor> parse(std::string_view text);

  /// The product, rounded down; nothing when it is more than a time can hold.
  std::optional<std::chrono::nanoseconds> times(std::chrono::nanoseconds duration) const;

 private:
  Factor(std::int64_t numerator, std::int64_t denominator)
      : numerator_(numerator), denominator_(denominator) {}

  std::int64_t numerator_;
  std::int64_t denominator_;
};

/// Every nanosecond, without trailing zeros: `0s`, `1.5s`, `31m10s`, `2h05m07.000000001s`, `-1m30s`.
std::string exact_time(std::chrono::nanoseconds time);

/// The same form, rounded half up: to milliseconds below a minute (`1.5s`, `59.25s`), to seconds from there
/// on (`2h05m07s`, `92d01h00m00s`).
/// Requires: zero or more.
std::string readable_time(std::chrono::nanoseconds time);

}  // namespace bide_jobs
