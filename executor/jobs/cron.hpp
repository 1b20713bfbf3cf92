#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <bide/executor/jobs/zone.hpp>

namespace bide {

/// A cron expression that can't be read; the text names field, column and what was expected there.
class CronError : public std::invalid_argument {
 public:
  CronError(const std::string& message, std::string field, std::size_t column)
      : std::invalid_argument(message), field_(std::move(field)), column_(column) {}

  const std::string& field() const { return field_; }  // "minute"; empty if there are too few or too many
  std::size_t column() const { return column_; }       // of the expression, from 1

 private:
  std::string field_;
  std::size_t column_;
};

/// A time table: "30 2 * * MON-FRI" in a zone.
///
/// Fields:  minute hour day month weekday, or six with the seconds before them. `*`, numbers, ranges `1-5`, steps `*/5`
///          `10-50/5` `10/5` (from 10 on), lists of these; names JAN to DEC and SUN to SAT; weekday 0 and 7 are Sunday;
///          `?` is `*` in the day fields. `L` as a day is the last of the month; `5L` and `5#2` as weekdays are the last
///          and the second Friday. @yearly @annually @monthly @weekly @daily @midnight @hourly stand for all five.
///          There is no `W` and no `@reboot`.
/// Days:    where day and weekday both leave something out, one of the two is enough, as in crontab(5).
/// Clocks:  where the zone's clocks are set forward or back, what happens depends on the hours. If every hour is
///          allowed, it goes by the time that passes: times that are skipped do not run, times that come twice run
///          twice. If not, each time runs once a day: one that is skipped at the instant at which the clock is set
///          forward (several, once), one that comes twice at the first.
class Cron {
 public:
  /// Throws: CronError. An expression without a day to run on ("0 0 30 2 *") is refused as well.
  explicit Cron(std::string_view text, Zone zone = {});

  /// The first instant later than `after`; none after the year 9999.
  /// Cost: below a microsecond for what runs daily; at worst 41 years of days, one by one.
  std::optional<std::chrono::sys_seconds> next(std::chrono::sys_seconds after) const;

  const std::string& text() const { return text_; }
  const Zone& zone() const { return zone_; }

 private:
  friend class CronReader;
  using Local = std::chrono::local_seconds;

  bool day_matches(std::chrono::year_month_day day) const;
  bool weekday_matches(std::chrono::year_month_day day) const;
  std::optional<std::chrono::seconds> time_from(std::int64_t second_of_day) const;
  std::optional<Local> next_local(Local after) const;
  std::optional<std::chrono::sys_seconds> next_as_time_passes(std::chrono::sys_seconds after) const;

  std::string text_;
  Zone zone_;
  // A bit for each value that is allowed.
  std::uint64_t seconds_ = 1;
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;      // from 1
  std::uint64_t months_ = 0;    // from 1
  std::uint64_t weekdays_ = 0;  // from Sunday
  bool last_day_ = false;
  std::uint64_t last_weekdays_ = 0;
  std::array<std::uint64_t, 6> nth_weekdays_{};  // by 1 to 5
};

}  // namespace bide
