#include "http_date.hpp"

#include <cstdio>
#include <ctime>

namespace bide_http {

namespace {

constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

// Not strftime: its names depend on the locale.
std::string http_date(std::int64_t seconds_since_1970) {
  const std::time_t seconds = seconds_since_1970;
  std::tm when{};
  ::gmtime_r(&seconds, &when);
  char text[40];
  std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[when.tm_wday % 7],
                when.tm_mday, months[when.tm_mon % 12], when.tm_year + 1900, when.tm_hour, when.tm_min,
                when.tm_sec);
  return text;
}

std::optional<std::int64_t> parse_http_date(const std::string& text) {
  char month[4] = {};
  std::tm when{};
  int end = 0;
  const int found = std::sscanf(text.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d GMT%n", &when.tm_mday, month,
                                &when.tm_year, &when.tm_hour, &when.tm_min, &when.tm_sec, &end);
  if (found != 6 || end != static_cast<int>(text.size())) return std::nullopt;
  when.tm_year -= 1900;
  when.tm_mon = -1;
  for (int number = 0; number < 12; ++number) {
    if (std::string(months[number]) == month) when.tm_mon = number;
  }
  if (when.tm_mon < 0) return std::nullopt;
  const std::int64_t seconds = ::timegm(&when);
  if (http_date(seconds) != text) return std::nullopt;  // the 31st of June, 25 o'clock
  return seconds;
}

}  // namespace bide_http
