#include "time_text.hpp"

#include <cstdint>
#include <limits>

namespace bide_jobs {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
constexpr const char* expected_time = "a time such as 90, 1.5s, 10m or 2h";
constexpr const char* expected_coarser = "a time no finer than a nanosecond";
constexpr const char* expected_shorter = "a time of at most 292 years";
constexpr const char* expected_no_sign = "a time of zero or more";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits at the front of `rest`, which then begins behind them.
std::string_view take_digits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && is_digit(rest[count])) ++count;
  std::string_view digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

/// A decimal number as its two runs of digits, without the zeros that say nothing.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
};

std::optional<Decimal> take_decimal(std::string_view& rest) {
  Decimal decimal;
  decimal.whole = take_digits(rest);
  if (decimal.whole.empty()) return std::nullopt;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    decimal.fraction = take_digits(rest);
    if (decimal.fraction.empty()) return std::nullopt;
  }
  while (!decimal.whole.empty() && decimal.whole.front() == '0') decimal.whole.remove_prefix(1);
  while (!decimal.fraction.empty() && decimal.fraction.back() == '0') decimal.fraction.remove_suffix(1);
  return decimal;
}

/// Requires: at most 19 digits.
Wide number(std::string_view digits) {
  Wide value = 0;
  for (char c : digits) value = value * 10 + (c - '0');
  return value;
}

Wide power_of_ten(std::size_t exponent) {
  Wide value = 1;
  while (exponent-- > 0) value *= 10;
  return value;
}

/// Nanoseconds in a unit; 0 for a word that is no unit.
std::int64_t unit_length(std::string_view unit) {
  constexpr std::int64_t second = 1'000'000'000;
  if (unit.empty() || unit == "s") return second;
  if (unit == "ns") return 1;
  if (unit == "us") return 1'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "m") return 60 * second;
  if (unit == "h") return 3'600 * second;
  if (unit == "d") return 86'400 * second;
  return 0;
}

std::string two_digits(std::int64_t value) {
  return std::string(value < 10 ? "0" : "") + std::to_string(value);
}

/// `value / 10^decimals` without trailing zeros.
std::string trimmed_decimal(std::int64_t value, std::size_t decimals) {
  std::int64_t scale = static_cast<std::int64_t>(power_of_ten(decimals));
  std::string text = std::to_string(value / scale);
  std::string fraction = std::to_string(value % scale);
  fraction.insert(0, decimals - fraction.size(), '0');
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return fraction.empty() ? text : text + "." + fraction;
}

}  // namespace

ParsedTime parse_time(std::string_view text) {
  std::string_view rest = text;
  if (!rest.empty() && rest.front() == '-') {
    rest.remove_prefix(1);
    bool is_time = parse_time(rest).expected == nullptr;
    return {{}, is_time ? expected_no_sign : expected_time};
  }
  std::optional<Decimal> decimal = take_decimal(rest);
  std::int64_t unit = unit_length(rest);
  if (!decimal || unit == 0) return {{}, expected_time};
  if (decimal->whole.size() > 19) return {{}, expected_shorter};
  if (decimal->fraction.size() > 18) return {{}, expected_coarser};

  Wide scale = power_of_ten(decimal->fraction.size());
  Wide fraction = number(decimal->fraction) * unit;
  if (fraction % scale != 0) return {{}, expected_coarser};
  Wide total = number(decimal->whole) * unit + fraction / scale;
  if (total > longest) return {{}, expected_shorter};
  return {std::chrono::nanoseconds(static_cast<std::int64_t>(total)), nullptr};
}

std::optional<Factor> Factor::parse(std::string_view text) {
  std::string_view rest = text;
  std::optional<Decimal> decimal = take_decimal(rest);
  if (!decimal || !rest.empty() || decimal->whole.size() > 10 || decimal->fraction.size() > 9) {
    return std::nullopt;
  }
  Wide denominator = power_of_ten(decimal->fraction.size());
  Wide numerator = number(decimal->whole) * denominator + number(decimal->fraction);
  if (numerator == 0 || numerator > 1'000'000'000 * denominator) return std::nullopt;
  return Factor(static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator));
}

std::optional<std::chrono::nanoseconds> Factor::times(std::chrono::nanoseconds duration) const {
  Wide product = static_cast<Wide>(duration.count()) * numerator_ / denominator_;
  if (product > longest) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(product));
}

std::string exact_seconds(std::chrono::nanoseconds time) {
  // The sign apart: a latest start time may lie before the start of the run.
  if (time == std::chrono::nanoseconds::min()) return "-9223372036.854775808s";
  std::string text(time.count() < 0 ? "-" : "");
  text += trimmed_decimal(time.count() < 0 ? -time.count() : time.count(), 9);
  text += "s";
  return text;
}

std::string readable_time(std::chrono::nanoseconds time) {
  std::int64_t milliseconds = time.count() / 1'000'000 + (time.count() % 1'000'000 >= 500'000 ? 1 : 0);
  if (milliseconds < 60'000) return trimmed_decimal(milliseconds, 3) + "s";

  std::int64_t seconds = time.count() / 1'000'000'000 + (time.count() % 1'000'000'000 >= 500'000'000 ? 1 : 0);
  std::int64_t minutes = seconds / 60;
  std::int64_t hours = minutes / 60;
  std::int64_t days = hours / 24;
  std::string tail = two_digits(seconds % 60) + "s";
  if (hours == 0) return std::to_string(minutes) + "m" + tail;
  tail.insert(0, two_digits(minutes % 60) + "m");
  if (days == 0) return std::to_string(hours) + "h" + tail;
  return std::to_string(days) + "d" + two_digits(hours % 24) + "h" + tail;
}

}  // namespace bide_jobs
