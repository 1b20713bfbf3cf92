#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <bide/executor/jobs/cron.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// "2026-03-29T01:00:00Z" (RFC 3339), with a fraction of the second only where there is one.
std::string to_rfc3339(std::chrono::sys_time<Duration> at);

/// When work comes again: by a fixed interval, or by the calendar. Says when, and keeps no state.
class Recurrence {
 public:
  /// What calendars count, in UTC: nanoseconds since 1970.
  using Time = std::chrono::sys_time<Duration>;

  /// At `first`, and after that each `period` later; whatever clocks do. Requires: period > 0.
  static Recurrence every(Duration period, Time first) { return Recurrence(Interval{period, first}); }
  static Recurrence by(Cron cron) { return Recurrence(std::move(cron)); }

  /// The first occurrence later than `after`; none where time ends. What was missed up to `after` does not come again.
  std::optional<Time> next(Time after) const;

  /// The last occurrence in (after, up_to]; none where there is none. Cost: that of 64 `next`.
  std::optional<Time> last(Time after, Time up_to) const;

  /// How many occurrences lie in (after, up_to], counted up to `most`.
  std::size_t count(Time after, Time up_to, std::size_t most) const;

 private:
  struct Interval {
    Duration period;
    Time first;
  };

  explicit Recurrence(std::variant<Interval, Cron> rule) : rule_(std::move(rule)) {}

  std::variant<Interval, Cron> rule_;
};

/// The key of one occurrence: the same from every restart and machine, so that it becomes one job.
std::string occurrence_key(std::string_view name, std::chrono::sys_time<Duration> at);

}  // namespace bide
