#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/recurrence.hpp>

using namespace bide;
using namespace std::chrono_literals;
using Time = Recurrence::Time;

namespace {

constexpr Time noon = std::chrono::sys_days(std::chrono::year(2026) / 3 / 1) + 12h;

std::vector<std::string> occurrences(const Recurrence& recurrence, Time after, int count) {
  std::vector<std::string> texts;
  for (auto at = recurrence.next(after); at && count-- > 0; at = recurrence.next(*at))
    texts.push_back(to_rfc3339(*at));
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("Recurrence: an interval counts from the first, and what was missed does not come again") {
  const Recurrence recurrence = Recurrence::every(90min, noon);
  CHECK(occurrences(recurrence, noon - 1h, 3) ==
        Texts{"2026-03-01T12:00:00Z", "2026-03-01T13:30:00Z", "2026-03-01T15:00:00Z"});
  CHECK(occurrences(recurrence, noon, 1) == Texts{"2026-03-01T13:30:00Z"});
  CHECK(occurrences(recurrence, noon + 90min - 1ns, 1) == Texts{"2026-03-01T13:30:00Z"});
  CHECK(occurrences(recurrence, noon + 24h, 1) == Texts{"2026-03-02T13:30:00Z"});
  CHECK(recurrence.count(noon, noon + 24h, 100) == 16);
  CHECK(recurrence.count(noon, noon + 24h, 5) == 5);
}

TEST_CASE("Recurrence: intervals reach to the end of time, and no further") {
  CHECK(Recurrence::every(1ns, Time::min()).next(Time::max()) == std::nullopt);
  CHECK(Recurrence::every(1ns, Time::min()).next(Time::max() - 1ns) == Time::max());
  CHECK(Recurrence::every(Duration::max(), Time::min()).next(Time(0ns)) == Time::max() - 1ns);
  CHECK(Recurrence::by(Cron("* * * * *")).next(Time::max()) == std::nullopt);
}

TEST_CASE("Recurrence: cron goes on from any nanosecond") {
  const Recurrence recurrence = Recurrence::by(Cron("0 12 * * *"));
  CHECK(occurrences(recurrence, noon - 1ns, 2) == Texts{"2026-03-01T12:00:00Z", "2026-03-02T12:00:00Z"});
  CHECK(occurrences(recurrence, noon, 1) == Texts{"2026-03-02T12:00:00Z"});
  CHECK(occurrences(recurrence, noon + 1ns, 1) == Texts{"2026-03-02T12:00:00Z"});
  CHECK(occurrences(recurrence, Time(-1ns), 1) == Texts{"1970-01-01T12:00:00Z"});
}

TEST_CASE("Recurrence: the last of a time is found without a look at each") {
  const Recurrence tick = Recurrence::every(1ns, noon);
  CHECK(tick.last(noon, noon + 24h * 365) == noon + 24h * 365);
  CHECK(tick.last(noon - 1ns, noon) == noon);
  CHECK(tick.last(noon, noon) == std::nullopt);
  CHECK(tick.last(noon + 1h, noon) == std::nullopt);
  CHECK(Recurrence::every(90min, noon).last(noon, noon + 4h) == noon + 3h);
  const Recurrence cron = Recurrence::by(Cron("0 12 * * *"));
  CHECK(cron.last(noon, noon + 24h - 1ns) == std::nullopt);
  CHECK(cron.last(noon, noon + 24h) == noon + 24h);
  CHECK(cron.last(noon, noon + 24h * 3 + 5h) == noon + 24h * 3);
  CHECK(tick.last(Time::min(), Time::max()) == Time::max());
}

TEST_CASE("to_rfc3339: a fraction where there is one, and years of four digits") {
  CHECK(to_rfc3339(noon + 1500ms) == "2026-03-01T12:00:01.5Z");
  CHECK(to_rfc3339(noon + 1ns) == "2026-03-01T12:00:00.000000001Z");
  CHECK(to_rfc3339(Time(-1ns)) == "1969-12-31T23:59:59.999999999Z");
  CHECK(occurrence_key("nightly", noon) == "nightly@2026-03-01T12:00:00Z");
}
