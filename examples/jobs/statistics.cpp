#include "statistics.hpp"

#include <algorithm>

namespace bide_jobs {
namespace {

__extension__ typedef __int128 Wide;

/// Requires: not negative, and a divisor above zero.
Wide divide_half_up(Wide dividend, Wide divisor) { return (dividend + divisor / 2) / divisor; }

Nanoseconds percentile(std::vector<Nanoseconds>& waits, std::size_t percent) {
  std::size_t rank = (percent * waits.size() + 99) / 100;  // from 1
  auto place = waits.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(waits.begin(), place, waits.end());
  return *place;
}

void count(Tally& tally, const Job& job, const Fate& fate) {
  ++tally.job_count;
  if (fate.end != Fate::End::done) {
    ++tally.refused_count;
    return;
  }
  ++tally.done_count;
  if (job.deadline) ++tally.deadline_count;
  if (missed_deadline(job, fate)) ++tally.missed_count;
}

}  // namespace

bool missed_deadline(const Job& job, const Fate& fate) {
  return fate.end == Fate::End::done && job.deadline && fate.ended > *job.deadline;
}

Waits measure(std::vector<Nanoseconds> waits) {
  if (waits.empty()) return {};
  Wide sum = 0;
  for (Nanoseconds wait : waits) sum += wait.count();
  Wide mean = divide_half_up(sum, static_cast<Wide>(waits.size()));

  Waits measured;
  measured.mean = Nanoseconds(static_cast<std::int64_t>(mean));
  measured.p50 = percentile(waits, 50);
  measured.p99 = percentile(waits, 99);
  measured.max = *std::max_element(waits.begin(), waits.end());
  return measured;
}

Statistics summarize(const Workload& workload, const History& history, std::int64_t workers) {
  Statistics statistics;
  std::array<std::vector<Nanoseconds>, bide::priority_count> waits;
  std::vector<Nanoseconds> all_waits;
  Wide held = 0;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const Job& job = workload.jobs[i];
    const Fate& fate = history.fates[i];
    std::size_t of_class = static_cast<std::size_t>(job.priority);
    count(statistics.by_class[of_class], job, fate);
    count(statistics.all, job, fate);
    if (fate.end == Fate::End::queue_full) ++statistics.queue_full_count;
    if (fate.end == Fate::End::too_wide) ++statistics.too_wide_count;
    if (fate.end != Fate::End::done) continue;
    waits[of_class].push_back(fate.started - job.submit);
    all_waits.push_back(fate.started - job.submit);
    held += static_cast<Wide>(job.duration.count()) * job.slots;
  }
  for (std::size_t of_class = 0; of_class < bide::priority_count; ++of_class) {
    statistics.by_class[of_class].waits = measure(std::move(waits[of_class]));
  }
  statistics.all.waits = measure(std::move(all_waits));
  statistics.makespan = history.makespan;
  Wide offered = static_cast<Wide>(history.makespan.count()) * workers;
  if (offered > 0)
    statistics.utilisation_permille = static_cast<std::int64_t>(divide_half_up(held * 1000, offered));
  return statistics;
}

}  // namespace bide_jobs
