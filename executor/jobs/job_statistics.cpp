#include <bide/executor/jobs/job_statistics.hpp>

#include <algorithm>

#include <bide/queue/require.hpp>

namespace bide {

void ClassStatistics::merge(const ClassStatistics& other) {
  if (other.wait.count() > 0) wait.merge(other.wait);
  if (other.run.count() > 0) run.merge(other.run);
  if (other.lateness.count() > 0) lateness.merge(other.lateness);
  submitted += other.submitted;
  started += other.started;
  met_deadlines += other.met_deadlines;
  missed_deadlines += other.missed_deadlines;
  for (std::size_t status = 0; status < ended.size(); ++status) ended[status] += other.ended[status];
}

namespace {

void clear(ClassStatistics& statistics) {
  // Most windows of a class that does little have nothing to clear.
  if (statistics.wait.count() > 0) statistics.wait.clear();
  if (statistics.run.count() > 0) statistics.run.clear();
  if (statistics.lateness.count() > 0) statistics.lateness.clear();
  statistics.submitted = statistics.started = statistics.met_deadlines = statistics.missed_deadlines = 0;
  statistics.ended.fill(0);
}

}  // namespace

JobStatistics::JobStatistics(Options options) : options_(options), windows_(options.windows + 1) {
  require(options.window > Duration::zero(), "JobStatistics: a window has to be longer than zero");
  end_ = Instant(options.window);
}

void JobStatistics::ended_with_deadline(ClassStatistics& statistics, JobStatus status, Instant deadline,
                                        Instant now) {
  if (status == JobStatus::cancelled) return;
  if (now > deadline) {
    ++statistics.missed_deadlines;
    statistics.lateness.add(subtract_saturating(now, deadline));
  } else if (status == JobStatus::succeeded) {
    ++statistics.met_deadlines;
  } else {
    ++statistics.missed_deadlines;  // it ended without what was wanted by then
  }
}

ClassStatistics JobStatistics::recent(Priority priority, Instant now) const {
  ClassStatistics sum;
  const std::int64_t present = std::max(number_, number_of(now));
  for (std::size_t back = 0; back < windows_.size(); ++back) {
    const std::int64_t number = present - static_cast<std::int64_t>(back);
    if (number < 0 || number > number_) continue;
    sum.merge(
        windows_[static_cast<std::size_t>(number) % windows_.size()][static_cast<std::size_t>(priority)]);
  }
  return sum;
}

ClassStatistics JobStatistics::total(Priority priority) const {
  ClassStatistics sum = closed_[static_cast<std::size_t>(priority)];
  sum.merge(
      windows_[static_cast<std::size_t>(number_) % windows_.size()][static_cast<std::size_t>(priority)]);
  return sum;
}

std::int64_t JobStatistics::number_of(Instant at) const {
  return std::max<std::int64_t>(at.time_since_epoch() / options_.window, 0);
}

// Windows in which nothing was recorded are cleared like the others: those kept are the last ones by number.
void JobStatistics::roll(Instant now) {
  const Classes& present = windows_[static_cast<std::size_t>(number_) % windows_.size()];
  for (std::size_t priority = 0; priority < priority_count; ++priority)
    closed_[priority].merge(present[priority]);
  const std::int64_t number = number_of(now);
  const std::int64_t passed =
      std::min<std::int64_t>(number - number_, static_cast<std::int64_t>(windows_.size()));
  for (std::int64_t back = 0; back < passed; ++back) {
    for (ClassStatistics& statistics : windows_[static_cast<std::size_t>(number - back) % windows_.size()])
      clear(statistics);
  }
  number_ = number;
  present_ = static_cast<std::size_t>(number) % windows_.size();
  end_ = add_saturating(Instant(options_.window * number), options_.window);
}

}  // namespace bide
