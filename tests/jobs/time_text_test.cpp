#include "time_text.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using bide_jobs::exact_time;
using bide_jobs::Factor;
using bide_jobs::parse_time;
using bide_jobs::readable_time;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();

std::int64_t parsed(std::string_view text) {
  bide_jobs::ParsedTime time = parse_time(text);
  return time.expected == nullptr ? time.value.count() : -1;
}

std::string expected(std::string_view text) {
  const char* words = parse_time(text).expected;
  return words == nullptr ? "" : words;
}

}  // namespace

TEST_CASE("Time text: a number with a unit, seconds without one") {
  CHECK(parsed("90") == 90'000'000'000);
  CHECK(parsed("0") == 0);
  CHECK(parsed("1.5s") == 1'500'000'000);
  CHECK(parsed("10m") == 600'000'000'000);
  CHECK(parsed("2h") == 7'200'000'000'000);
  CHECK(parsed("1d") == 86'400'000'000'000);
  CHECK(parsed("250ms") == 250'000'000);
  CHECK(parsed("7us") == 7'000);
  CHECK(parsed("3ns") == 3);
  CHECK(parsed("007.500") == 7'500'000'000);
}

TEST_CASE("Time text: fractions are exact to the nanosecond, and what is finer is refused") {
  CHECK(parsed("0.000000001") == 1);
  CHECK(parsed("0.1m") == 6'000'000'000);
  CHECK(parsed("0.00000000001d") == 864);
  CHECK(expected("0.0000000001") == "a time no finer than a nanosecond");
  CHECK(expected("1.5ns") == "a time no finer than a nanosecond");
  CHECK(expected("0.1234567890123456789s") == "a time no finer than a nanosecond");
  CHECK(parsed("1.50000000000000000000000000") == 1'500'000'000);
}

TEST_CASE("Time text: the longest time is 2^63 - 1 nanoseconds") {
  CHECK(parsed("9223372036.854775807") == longest);
  CHECK(expected("9223372036.854775808") == "a time of at most 292 years");
  CHECK(expected("99999999999999999999999999s") == "a time of at most 292 years");
  CHECK(expected("106752d") == "a time of at most 292 years");
  CHECK(parsed("9223372036854775807ns") == longest);
}

TEST_CASE("Time text: what is no time is refused with what a time looks like") {
  for (const char* text :
       {"", "s", "abc", "1.", ".5", "1e3", "5 m", "5M", "1h30m", "+5", "1,5", "--1", "-", "-x", "0x10"}) {
    INFO(text);
    CHECK(expected(text) == "a time such as 90, 1.5s, 10m or 2h");
  }
  CHECK(expected("-5s") == "a time of zero or more");
  CHECK(expected("-0") == "a time of zero or more");
}

TEST_CASE("Factor: multiplies exactly and rounds down") {
  CHECK(Factor::parse("3")->times(10s) == 30s);
  CHECK(Factor::parse("1.5")->times(3ns) == 4ns);
  CHECK(Factor::parse("0.000000001")->times(1s) == 1ns);
  CHECK(Factor::parse("1000000000")->times(1s) == 1'000'000'000s);
  CHECK_FALSE(Factor::parse("2")->times(std::chrono::nanoseconds(longest / 2 + 1)).has_value());
}

TEST_CASE("Factor: only numbers above zero") {
  for (const char* text :
       {"", "0", "0.0", "-1", "x", "1x", "1.", "1000000001", "0.0000000001", "99999999999"}) {
    INFO(text);
    CHECK_FALSE(Factor::parse(text).has_value());
  }
}

TEST_CASE("Time text: exact to the nanosecond without trailing zeros, also before the start") {
  CHECK(exact_time(0ns) == "0s");
  CHECK(exact_time(1500ms) == "1.5s");
  CHECK(exact_time(1ns) == "0.000000001s");
  CHECK(exact_time(59'999'999'999ns) == "59.999999999s");
  CHECK(exact_time(60s) == "1m00s");
  CHECK(exact_time(1870s) == "31m10s");
  CHECK(exact_time(3600s + 500ms) == "1h00m00.5s");
  CHECK(exact_time(86400s + 1ns) == "1d00h00m00.000000001s");
  CHECK(exact_time(-1s) == "-1s");
  CHECK(exact_time(-90500ms) == "-1m30.5s");
  CHECK(exact_time(-1ns) == "-0.000000001s");
  CHECK(exact_time(std::chrono::nanoseconds::max()) == "106751d23h47m16.854775807s");
  CHECK(exact_time(std::chrono::nanoseconds::min()) == "-106751d23h47m16.854775808s");
}

TEST_CASE("Time text: for people milliseconds below a minute, seconds above, halves up") {
  CHECK(readable_time(0ns) == "0s");
  CHECK(readable_time(499'999ns) == "0s");
  CHECK(readable_time(500'000ns) == "0.001s");
  CHECK(readable_time(59'999'499'999ns) == "59.999s");
  CHECK(readable_time(59'999'500'000ns) == "1m00s");
  CHECK(readable_time(90'500ms) == "1m31s");
  CHECK(readable_time(3600s) == "1h00m00s");
  CHECK(readable_time(86399s) == "23h59m59s");
  CHECK(readable_time(86400s * 92 + 3723s) == "92d01h02m03s");
  CHECK(readable_time(std::chrono::nanoseconds::max()) == "106751d23h47m17s");
}
