#include <bide/executor/jobs/recurrence.hpp>

#include <cstdio>
#include <numeric>

#include <bide/queue/require.hpp>

namespace bide {

namespace {

using Time = Recurrence::Time;

std::optional<Time> next_of(Duration period, Time first, Time after) {
  require(period > Duration::zero(), "Recurrence::every needs a period above zero");
  if (after < first) return first;
  __extension__ using Wide = __int128;
  // 128 bits: the two may be further apart than a Duration reaches.
  const Wide passed = Wide{after.time_since_epoch().count()} - first.time_since_epoch().count();
  const Wide next = first.time_since_epoch().count() + (passed / period.count() + 1) * period.count();
  if (next > Time::max().time_since_epoch().count()) return {};
  return Time(std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(next)));
}

std::optional<Time> next_of(const Cron& cron, Time after) {
  const auto at = cron.next(std::chrono::floor<std::chrono::seconds>(after));
  // Nanoseconds end in 2262, the calendar does not.
  if (!at || *at > std::chrono::floor<std::chrono::seconds>(Time::max())) return {};
  return Time(*at);
}

}  // namespace

std::string to_rfc3339(Time at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<std::chrono::nanoseconds> time(at - day);
  char text[64];
  std::snprintf(text, sizeof(text), "%04d-%02u-%02uT%02ld:%02ld:%02ld.%09ld", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<long>(time.hours().count()), static_cast<long>(time.minutes().count()),
                static_cast<long>(time.seconds().count()), static_cast<long>(time.subseconds().count()));
  std::string result = text;
  result.erase(result.find_last_not_of('0') + 1);
  if (result.ends_with('.')) result.pop_back();
  return result + "Z";
}

std::optional<Recurrence::Time> Recurrence::next(Time after) const {
  if (const auto* cron = std::get_if<Cron>(&rule_)) return next_of(*cron, after);
  const auto& interval = std::get<Interval>(rule_);
  return next_of(interval.period, interval.first, after);
}

std::optional<Recurrence::Time> Recurrence::last(Time after, Time up_to) const {
  const auto comes_after = [&](Time time) {
    const std::optional<Time> at = next(time);
    return at && *at <= up_to;
  };
  if (!comes_after(after)) return {};
  // Nothing comes after `none`, something after `some`: the last one is next to them.
  Time some = after;
  Time none = up_to;
  while (some + Duration(1) < none) {
    const Time middle(
        Duration(std::midpoint(some.time_since_epoch().count(), none.time_since_epoch().count())));
    (comes_after(middle) ? some : none) = middle;
  }
  return next(some);
}

std::size_t Recurrence::count(Time after, Time up_to, std::size_t most) const {
  std::size_t count = 0;
  for (auto at = next(after); at && *at <= up_to && count < most; at = next(*at)) ++count;
  return count;
}

std::string occurrence_key(std::string_view name, Time at) {
  return std::string(name) + "@" + to_rfc3339(at);
}

}  // namespace bide
