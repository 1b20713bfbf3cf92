#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/cron.hpp>
#include <bide/executor/jobs/recurrence.hpp>

using namespace bide;
using namespace std::chrono_literals;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;

namespace {

constexpr sys_seconds new_year = sys_days(year(2026) / 1 / 1);

std::vector<std::string> occurrences(const Cron& cron, sys_seconds after, int count) {
  std::vector<std::string> texts;
  std::optional<sys_seconds> at = after;
  while (count-- > 0 && (at = cron.next(*at))) texts.push_back(to_rfc3339(*at));
  return texts;
}

std::string next(std::string_view text, sys_seconds after = new_year) {
  const auto at = Cron(text).next(after);
  return at ? to_rfc3339(*at) : "none";
}

std::string complaint(std::string_view text) {
  try {
    Cron cron(text);
    return "none";
  } catch (const CronError& error) {
    return error.what();
  }
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("Cron: each form of a field") {
  CHECK(next("* * * * *") == "2026-01-01T00:01:00Z");
  CHECK(next("* * * * * *") == "2026-01-01T00:00:01Z");
  CHECK(next("30 0 0 * * *") == "2026-01-01T00:00:30Z");
  CHECK(next("0 0 * * *") == "2026-01-02T00:00:00Z");
  CHECK(next("  5\t4 *  * * ") == "2026-01-01T04:05:00Z");
  CHECK(
      occurrences(Cron("*/20 9-10 * * *"), new_year, 4) ==
      Texts{"2026-01-01T09:00:00Z", "2026-01-01T09:20:00Z", "2026-01-01T09:40:00Z", "2026-01-01T10:00:00Z"});
  CHECK(
      occurrences(Cron("50/4 0 * * *"), new_year, 4) ==
      Texts{"2026-01-01T00:50:00Z", "2026-01-01T00:54:00Z", "2026-01-01T00:58:00Z", "2026-01-02T00:50:00Z"});
  CHECK(occurrences(Cron("0 6,22-23 * mar *"), new_year, 3) ==
        Texts{"2026-03-01T06:00:00Z", "2026-03-01T22:00:00Z", "2026-03-01T23:00:00Z"});
  CHECK(next("0 0 ? * SAT") == "2026-01-03T00:00:00Z");
  CHECK(next("@hourly") == "2026-01-01T01:00:00Z");
  CHECK(next("@weekly") == "2026-01-04T00:00:00Z");
  CHECK(next("@yearly") == "2027-01-01T00:00:00Z");
}

TEST_CASE("Cron: weekdays by number, name, range to Sunday, last and n-th") {
  CHECK(next("0 0 * * 0") == "2026-01-04T00:00:00Z");
  CHECK(next("0 0 * * 7") == "2026-01-04T00:00:00Z");
  CHECK(occurrences(Cron("0 0 * * Fri-Sun"), new_year, 3) ==
        Texts{"2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z"});
  CHECK(occurrences(Cron("0 12 * * 5L"), new_year, 2) ==
        Texts{"2026-01-30T12:00:00Z", "2026-02-27T12:00:00Z"});
  CHECK(occurrences(Cron("0 12 * * TUE#2"), new_year, 2) ==
        Texts{"2026-01-13T12:00:00Z", "2026-02-10T12:00:00Z"});
  CHECK(next("0 0 * 2 5#5") == "2036-02-29T00:00:00Z");
}

TEST_CASE("Cron: days of the month, last ones, leap days, and either of day and weekday") {
  CHECK(occurrences(Cron("0 0 L * *"), new_year, 3) ==
        Texts{"2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z"});
  CHECK(next("0 0 29 2 *") == "2028-02-29T00:00:00Z");
  CHECK(next("0 0 29 2 *", sys_days(year(2096) / 3 / 1)) == "2104-02-29T00:00:00Z");
  CHECK(occurrences(Cron("0 0 31 * *"), new_year, 2) ==
        Texts{"2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"});
  CHECK(
      occurrences(Cron("0 0 13 * FRI"), new_year, 4) ==
      Texts{"2026-01-02T00:00:00Z", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z", "2026-01-16T00:00:00Z"});
  CHECK(next("0 0 * * *", sys_days(year(9999) / 12 / 31)) == "none");
  CHECK(Cron("0 0 1 1 *").next(sys_seconds::min()) == sys_days(year(2) / 1 / 1));
}

TEST_CASE("Cron: an error names field, column and what was expected") {
  CHECK(complaint("60 * * * *") ==
        "cron '60 * * * *', minute, column 1: expected a number from 0 to 59, found '60'");
  CHECK(complaint("0 8-25 * * *") ==
        "cron '0 8-25 * * *', hour, column 5: expected a number from 0 to 23, found '25'");
  CHECK(complaint("0 0 1 JANE *") ==
        "cron '0 0 1 JANE *', month, column 10: expected ',', '-', '/' or the end of the field, found 'E'");
  CHECK(complaint("0 0 1 Y *") ==
        "cron '0 0 1 Y *', month, column 7: expected a name or a number from 1 to 12, found 'Y'");
  CHECK(
      complaint("0 9-5 * * *") ==
      "cron '0 9-5 * * *', hour, column 5: expected a range that ends where it starts or later, found '9-5'");
  CHECK(complaint("*/0 * * * *") ==
        "cron '*/0 * * * *', minute, column 3: expected a step from 1 to 59, found '0'");
  CHECK(complaint("1, * * * *") ==
        "cron '1, * * * *', minute, column 3: expected a number from 0 to 59, found the end");
  CHECK(complaint("* * *") ==
        "cron '* * *', column 6: expected five fields (minute hour day month weekday), or six with the "
        "second first, "
        "found '3 fields'");
  CHECK(complaint("* * * * * * *").find("column 13") != std::string::npos);
  CHECK(complaint("0 0 30 2 *") ==
        "cron '0 0 30 2 *', day, column 5: expected a day that one of the months has, found '30'");
  for (const std::string_view text :
       {"", "@reboot", "? * * * *", "0 0 L5 * *", "0 0 15W * *", "0 0 * * 5#6", "0 0 * * 8", "0 0 * * 5L1",
        "-1 * * * *", "0 0 31 4,6,9,11 *", "99999999999999999999 * * * *", "1-2-3 * * * *", "** * * * *",
        "*/60 * * * *"})
    CHECK(complaint(text) != "none");
  try {
    Cron cron("0 0 * * FUN");
  } catch (const CronError& error) {
    CHECK(error.field() == "weekday");
    CHECK(error.column() == 9);
  }
}

TEST_CASE(
    "Cron: a time that the clock skips runs when it is set forward, once; one that comes twice, at the "
    "first") {
  const Zone berlin = Zone::named("Europe/Berlin");
  const Cron half_past_two("30 2 * * *", berlin);
  CHECK(occurrences(half_past_two, sys_days(year(2026) / 3 / 28), 3) ==
        Texts{"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"});
  CHECK(occurrences(half_past_two, sys_days(year(2026) / 10 / 24), 3) ==
        Texts{"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"});
  CHECK(
      occurrences(Cron("*/30 1-3 * * *", berlin), sys_days(year(2026) / 3 / 29), 4) ==
      Texts{"2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z", "2026-03-29T23:00:00Z"});
  // Midnight itself may be skipped, and a whole day.
  CHECK(occurrences(Cron("0 0 * * *", Zone::named("America/Sao_Paulo")), sys_days(year(2018) / 11 / 3), 3) ==
        Texts{"2018-11-03T03:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"});
  CHECK(next("0 0 30 12 *", sys_days(year(2011) / 12 / 1)) == "2011-12-30T00:00:00Z");
  CHECK(occurrences(Cron("0 12 30 12 *", Zone::named("Pacific/Apia")), sys_days(year(2011) / 12 / 1), 1) ==
        Texts{"2011-12-30T10:00:00Z"});
}

TEST_CASE("Cron: with every hour allowed, it goes by the time that passes") {
  const Zone berlin = Zone::named("Europe/Berlin");
  CHECK(occurrences(Cron("0 * * * *", berlin), sys_days(year(2026) / 3 / 29), 3) ==
        Texts{"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z", "2026-03-29T03:00:00Z"});
  CHECK(occurrences(Cron("30 * * * *", berlin), sys_days(year(2026) / 10 / 25), 3) ==
        Texts{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"});
  // Lord Howe moves by half an hour.
  CHECK(occurrences(Cron("0 * * * *", Zone::named("Australia/Lord_Howe")), sys_days(year(2026) / 4 / 4) + 13h,
                    3) == Texts{"2026-04-04T14:00:00Z", "2026-04-04T15:30:00Z", "2026-04-04T16:30:00Z"});
}

TEST_CASE("Cron: clocks change after 2037, too") {
  CHECK(occurrences(Cron("0 8 1 7 *", Zone::named("Europe/Berlin")), sys_days(year(2045) / 1 / 1), 1) ==
        Texts{"2045-07-01T06:00:00Z"});
}

TEST_CASE("Zone: a name that is none is refused, and no file is read for it") {
  CHECK(Zone::named("UTC") == Zone());
  CHECK(Zone::named("Asia/Tokyo").name() == "Asia/Tokyo");
  CHECK(Zone::named("Asia/Tokyo") == Zone::named("Asia/Tokyo"));
  for (const char* name : {"", "Mars/Olympus", "/etc/passwd", "../../etc/passwd", "file:Asia/Tokyo"})
    CHECK_THROWS_WITH(Zone::named(name),
                      Catch::Contains("there is no time zone '" + std::string(name) + "'"));
}
