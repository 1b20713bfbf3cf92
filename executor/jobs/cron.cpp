#include <bide/executor/jobs/cron.hpp>

#include <algorithm>
#include <bit>

#include <bide/executor/jobs/cron_reader.hpp>

namespace bide {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using std::chrono::year;
using std::chrono::year_month_day;

namespace {

constexpr std::uint64_t every_hour = (std::uint64_t{1} << 24U) - 1;
constexpr std::uint64_t every_weekday = (std::uint64_t{1} << 7U) - 1;
constexpr std::uint64_t every_day = ((std::uint64_t{1} << 31U) - 1) << 1U;
// The longest wait there is: for a fifth Friday of February, over a century without a leap year.
constexpr days patience{41 * 366};
constexpr sys_seconds first_instant = std::chrono::sys_days(year(1) / 1 / 1);
constexpr sys_seconds last_instant = std::chrono::sys_days(year(9999) / 12 / 31);

bool has(std::uint64_t set, unsigned value) { return (set >> value & 1U) != 0; }

/// The first value of the set from `low` on; 64 if there is none.
std::int64_t first_from(std::uint64_t set, std::int64_t low) {
  return low > 63 ? 64 : std::countr_zero(set & (~std::uint64_t{0} << static_cast<unsigned>(low)));
}

}  // namespace

Cron::Cron(std::string_view text, Zone zone) : text_(text), zone_(zone) { CronReader(text_, *this).read(); }

std::optional<sys_seconds> Cron::next(sys_seconds after) const {
  after = std::max(after, first_instant);
  if (after >= last_instant) return {};
  if (hours_ == every_hour) return next_as_time_passes(after);
  // A later local time never means an earlier instant, so the first that means one after `after` is the next. While
  // the second of two equal hours passes, all times of the first are tried in vain.
  std::optional<Local> local = zone_.to_local(after);
  while ((local = next_local(*local))) {
    const sys_seconds at = zone_.meaning(*local).first;
    if (at > after) return at;
  }
  return {};
}

// From one change of the clock to the next, local time is time that passes.
std::optional<sys_seconds> Cron::next_as_time_passes(sys_seconds after) const {
  const sys_seconds give_up = after + patience;
  while (after < give_up) {
    const std::optional<sys_seconds> change = zone_.next_change(after);
    const Local local = zone_.to_local(after);
    const std::optional<Local> found = next_local(local);
    if (found && (!change || after + (*found - local) < *change)) return after + (*found - local);
    if (!change) return {};
    after = *change;
    // The instant of the change itself may be one.
    const Local changed = zone_.to_local(after);
    if (next_local(changed - seconds(1)) == changed) return after;
  }
  return {};
}

std::optional<Cron::Local> Cron::next_local(Local after) const {
  Local from = after + seconds(1);
  local_days day = std::chrono::floor<days>(from);
  const local_days end = day + patience;
  while (day < end) {
    const year_month_day date(day);
    if (!has(months_, static_cast<unsigned>(date.month()))) {
      day = local_days((date.year() / date.month() + std::chrono::months(1)) / 1);
      from = day;
      continue;
    }
    if (day_matches(date)) {
      if (const auto time = time_from((from - day).count())) return day + *time;
    }
    day += days(1);
    from = day;
  }
  return {};
}

bool Cron::day_matches(year_month_day day) const {
  const bool any_day = days_ == every_day;
  const bool any_weekday = weekdays_ == every_weekday;
  const bool last = last_day_ && day == year_month_day(day.year() / day.month() / std::chrono::last);
  const bool in_month = last || has(days_, static_cast<unsigned>(day.day()));
  if (any_weekday) return in_month;
  if (any_day) return weekday_matches(day);
  return in_month || weekday_matches(day);
}

bool Cron::weekday_matches(year_month_day day) const {
  const unsigned weekday = std::chrono::weekday(local_days(day)).c_encoding();
  const auto number = static_cast<unsigned>(day.day());
  const year_month_day last = day.year() / day.month() / std::chrono::last;
  return has(weekdays_, weekday) || has(nth_weekdays_[(number + 6) / 7], weekday) ||
         (has(last_weekdays_, weekday) && number + 7 > static_cast<unsigned>(last.day()));
}

/// The first time of a day from this second on.
std::optional<seconds> Cron::time_from(std::int64_t second_of_day) const {
  std::int64_t hour = second_of_day / 3600;
  std::int64_t minute = second_of_day / 60 % 60;
  std::int64_t second = first_from(seconds_, second_of_day % 60);
  if (second > 59) {
    second = first_from(seconds_, 0);
    ++minute;
  }
  const std::int64_t first_minute = first_from(minutes_, minute);
  if (first_minute != minute) second = first_from(seconds_, 0);
  minute = first_minute;
  if (minute > 59) {
    minute = first_from(minutes_, 0);
    second = first_from(seconds_, 0);
    ++hour;
  }
  const std::int64_t first_hour = first_from(hours_, hour);
  if (first_hour > 23) return {};
  if (first_hour != hour) {
    minute = first_from(minutes_, 0);
    second = first_from(seconds_, 0);
  }
  return seconds(first_hour * 3600 + minute * 60 + second);
}

}  // namespace bide
