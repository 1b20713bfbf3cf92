#include <algorithm>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/jobs/cron.hpp>
#include <bide/tests/random.hpp>

using namespace bide;
using std::chrono::days;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;

namespace {

/// One field as a set, and a text that says the same.
struct Field {
  std::bitset<64> allowed;
  std::string text;
};

Field random_field(test::Random& random, std::uint64_t low, std::uint64_t high, std::uint64_t any_in_ten) {
  Field field;
  const auto allow = [&field](std::uint64_t from, std::uint64_t to, std::uint64_t step) {
    for (std::uint64_t value = from; value <= to; value += step) field.allowed.set(value);
  };
  if (random.below(10) < any_in_ten) {
    allow(low, high, 1);
    field.text = "*";
    return field;
  }
  for (std::uint64_t items = 1 + random.below(3); items > 0; --items) {
    if (!field.text.empty()) field.text += ',';
    const std::uint64_t from = low + random.below(high - low + 1);
    const std::uint64_t to = from + random.below(high - from + 1);
    const std::uint64_t step = 1 + random.below(high - low);
    switch (random.below(4)) {
      case 0:
        allow(from, from, 1), field.text += std::to_string(from);
        break;
      case 1:
        allow(from, to, 1), field.text += std::to_string(from) + "-" + std::to_string(to);
        break;
      case 2:
        allow(low, high, step), field.text += "*/" + std::to_string(step);
        break;
      default:
        allow(from, to, step);
        field.text += std::to_string(from) + "-" + std::to_string(to) + "/" + std::to_string(step);
    }
  }
  return field;
}

struct TimeTable {
  Field minute, hour, day, month, weekday;

  explicit TimeTable(test::Random& random)
      : minute(random_field(random, 0, 59, 2)),
        hour(random_field(random, 0, 23, 3)),
        day(random_field(random, 1, 31, 6)),
        month(random_field(random, 1, 12, 8)),
        weekday(random_field(random, 0, 6, 6)) {}

  std::string text() const {
    return minute.text + " " + hour.text + " " + day.text + " " + month.text + " " + weekday.text;
  }

  bool matches(local_seconds at) const {
    const auto midnight = std::chrono::floor<days>(at);
    const std::chrono::year_month_day date(midnight);
    const auto minute_of_day = static_cast<std::size_t>((at - midnight).count() / 60);
    if (!minute.allowed[minute_of_day % 60] || !hour.allowed[minute_of_day / 60]) return false;
    if (!month.allowed[static_cast<unsigned>(date.month())]) return false;
    const bool by_day = day.allowed[static_cast<unsigned>(date.day())];
    const bool by_weekday = weekday.allowed[std::chrono::weekday(midnight).c_encoding()];
    const bool both_leave_out = day.allowed.count() < 31 && weekday.allowed.count() < 7;
    return both_leave_out ? by_day || by_weekday : by_day && by_weekday;
  }
};

/// Each minute of a window of days as a clock on the wall shows it.
class Window {
 public:
  Window(const Zone& zone, sys_seconds from, days length) : from_(from) {
    for (sys_seconds at = from; at < from + length; at += minutes(1)) local_.push_back(zone.to_local(at));
  }

  std::vector<sys_seconds> occurrences(const TimeTable& table) const {
    std::vector<sys_seconds> found;
    std::set<local_seconds> shown;
    const bool every_hour = table.hour.allowed.count() == 24;
    for (std::size_t n = 1; n < local_.size(); ++n) {
      bool runs = table.matches(local_[n]);
      if (!every_hour) {
        runs = runs && shown.insert(local_[n]).second;
        for (local_seconds skipped = local_[n - 1] + minutes(1); skipped < local_[n]; skipped += minutes(1))
          runs = runs || table.matches(skipped);
      }
      if (runs) found.push_back(from_ + minutes(n));
    }
    return found;
  }

 private:
  sys_seconds from_;
  std::vector<local_seconds> local_;
};

std::vector<sys_seconds> by_next(const Cron& cron, sys_seconds after, sys_seconds end) {
  std::vector<sys_seconds> found;
  for (auto at = cron.next(after); at && *at < end; at = cron.next(*at)) found.push_back(*at);
  return found;
}

}  // namespace

TEST_CASE("Cron: next agrees with a look at every minute, across each kind of change of the clock") {
  const struct {
    const char* zone;
    sys_seconds from;
  } changes[] = {
      {"UTC", sys_days(year(2028) / 2 / 24)},
      {"Europe/Berlin", sys_days(year(2026) / 3 / 25)},
      {"Europe/Berlin", sys_days(year(2026) / 10 / 20)},
      {"America/Sao_Paulo", sys_days(year(2018) / 11 / 1)},
      {"America/Sao_Paulo", sys_days(year(2018) / 2 / 14)},
      {"Australia/Lord_Howe", sys_days(year(2026) / 4 / 1)},
      {"Australia/Lord_Howe", sys_days(year(2026) / 10 / 1)},
      {"Pacific/Apia", sys_days(year(2011) / 12 / 26)},
      {"Asia/Kathmandu", sys_days(year(1985) / 12 / 28)},
      {"Africa/Casablanca", sys_days(year(2027) / 2 / 1)},
  };
  constexpr days length{9};
  for (const auto& change : changes) {
    const Zone zone = Zone::named(change.zone);
    const Window window(zone, change.from, length);
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
      test::Random random(seed);
      const TimeTable table(random);
      std::optional<Cron> cron;
      try {
        cron.emplace(table.text(), zone);
      } catch (const CronError&) {
        continue;  // a day that no month has
      }
      INFO(change.zone << " '" << table.text() << "' seed " << seed);
      // The window's first minute has no minute before it to compare with.
      const std::vector<sys_seconds> occurrences = window.occurrences(table);
      CHECK(by_next(*cron, change.from, change.from + length) == occurrences);
      for (int n = 0; n < 20; ++n) {
        const sys_seconds after =
            change.from +
            std::chrono::seconds(random.below(static_cast<std::uint64_t>(length / std::chrono::seconds(1))));
        const auto expected = std::upper_bound(occurrences.begin(), occurrences.end(), after);
        const auto found = cron->next(after);
        if (expected != occurrences.end()) {
          CHECK(found == *expected);
        } else {
          CHECK((!found || *found >= change.from + length));
        }
      }
    }
  }
}
