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

/// `part / 10^decimals`, which is below one, without trailing zeros: `.5`, or nothing for 0.
std::string fraction_text(std::int64_t part, std::size_t decimals) {
  if (part == 0) return "";
  std::string digits = std::to_string(part);
  digits.insert(0, decimals - digits.size(), '0');
  while (digits.back() == '0') digits.pop_back();
  return "." + digits;
}

/// `2h05m07.5s`: the larger units only where they count. `fraction` is of a second.
std::string in_units(std::int64_t seconds, const std::string& fraction) {
  if (seconds < 60) return std::to_string(seconds) + fraction + "s";
  std::int64_t minutes = seconds / 60;
  std::int64_t hours = minutes / 60;
  std::int64_t days = hours / 24;
  std::string tail = two_digits(seconds % 60) + fraction + "s";
  if (hours == 0) return std::to_string(minutes) + "m" + tail;
  tail.insert(0, two_digits(minutes % 60) + "m");
  if (days == 0) return std::to_string(hours) + "h" + tail;
  return std::to_string(days) + "d" + two_digits(hours % 24) + "h" + tail;
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

std::string exact_time(std::chrono::nanoseconds time) {
  // The sign apart: a latest start time may lie before the start of the run.
  constexpr std::int64_t second = 1'000'000'000;
  std::int64_t seconds = time.count() / second;
  std::int64_t part = time.count() % second;
  if (time.count() >= 0) return in_units(seconds, fraction_text(part, 9));
  return "-" + in_units(-seconds, fraction_text(-part, 9));
}

std::string readable_time(std::chrono::nanoseconds time) {
  std::int64_t milliseconds = time.count() / 1'000'000 + (time.count() % 1'000'000 >= 500'000 ? 1 : 0);
  if (milliseconds < 60'000) return in_units(milliseconds / 1000, fraction_text(milliseconds % 1000, 3));
  constexpr std::int64_t second = 1'000'000'000;
  return in_units(time.count() / second + (time.count() % second >= second / 2 ? 1 : 0), "");
}

}  // namespace bide_jobs
