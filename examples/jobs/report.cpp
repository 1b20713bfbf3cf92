#include "report.hpp"

#include "explain.hpp"
#include "quoted.hpp"
#include "table.hpp"
#include "time_text.hpp"

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <string>

namespace bide_jobs {
namespace {

constexpr std::array<Priority, 4> highest_first = {Priority::critical, Priority::high, Priority::normal,
                                                   Priority::low};

std::string plural(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string percent(std::int64_t permille) {
  return std::to_string(permille / 10) + "." + std::to_string(permille % 10) + " %";
}

/// `-` where no job waited, so that it does not read as a wait of nothing.
std::string wait_text(const Tally& tally, Nanoseconds wait) {
  return tally.done_count == 0 ? "-" : readable_time(wait);
}

std::string missed_text(const Tally& tally) {
  return std::to_string(tally.missed_count) + " of " + std::to_string(tally.deadline_count);
}

/// Milliseconds with a decimal: runs are short.
std::string wall_text(std::chrono::nanoseconds time) {
  std::int64_t tenths = time.count() / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "ms";
}

const Tally& tally_of(const Statistics& statistics, Priority priority) {
  return statistics.by_class[static_cast<std::size_t>(priority)];
}

void add_tally(Table& table, const char* name, const Tally& tally) {
  table.add_row({name, std::to_string(tally.job_count), std::to_string(tally.done_count),
                 std::to_string(tally.refused_count), missed_text(tally), wait_text(tally, tally.waits.mean),
                 wait_text(tally, tally.waits.p50), wait_text(tally, tally.waits.p99),
                 wait_text(tally, tally.waits.max)});
}

std::string where_it_ran(const ReplayOptions& options) {
  return plural(static_cast<std::size_t>(options.workers), "worker") + ", a queue of " +
         std::to_string(options.capacity);
}

void write_what_was_assumed(std::ostream& out, const Workload& workload) {
  if (workload.unknown_time_count > 0) {
    out << "skipped " << plural(workload.unknown_time_count, "job")
        << " whose submit or run time is unknown\n";
  }
  if (workload.partial_execution_count > 0) {
    out << "skipped " << plural(workload.partial_execution_count, "line")
        << " about a part of a job that has a line of its own\n";
  }
  auto guessed = std::count_if(workload.jobs.begin(), workload.jobs.end(),
                               [](const Job& job) { return job.deadline && !job.hint; });
  if (guessed > 0) {
    out << "assumed a hint of 1s for " << plural(static_cast<std::size_t>(guessed), "job")
        << " with a deadline and no hint\n";
  }
}

/// A line each for the first jobs that ended in one of `ends`.
void write_refusals(std::ostream& out, const Workload& workload, const Run& run,
                    std::initializer_list<Fate::End> ends) {
  constexpr std::size_t most_lines = 10;
  std::size_t count = 0;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const Fate& fate = run.history.fates[i];
    bool tells = std::find(ends.begin(), ends.end(), fate.end) != ends.end();
    if (!tells || ++count > most_lines) continue;
    const Job& job = workload.jobs[i];
    out << "refused line " << job.line << ": " << word(job.name) << " "
        << refusal_text(job, fate, run.options) << "\n";
  }
  if (count > most_lines) out << "refused " << count - most_lines << " more; --json lists all\n";
}

/// A row of the comparison: `cell` says what it shows of a run.
template <class Cell>
void add_comparison(Table& table, std::string name, const std::vector<Run>& runs, Cell cell) {
  std::vector<std::string> row = {std::move(name)};
  for (const Run& run : runs) row.push_back(cell(run.statistics));
  table.add_row(std::move(row));
}

void add_class_comparison(Table& table, const std::string& name, const std::vector<Run>& runs,
                          Priority priority) {
  auto tally = [priority](const Statistics& s) -> const Tally& { return tally_of(s, priority); };
  add_comparison(table, name + " missed", runs, [&](const Statistics& s) { return missed_text(tally(s)); });
  add_comparison(table, name + " mean wait", runs,
                 [&](const Statistics& s) { return wait_text(tally(s), tally(s).waits.mean); });
  add_comparison(table, name + " p99 wait", runs,
                 [&](const Statistics& s) { return wait_text(tally(s), tally(s).waits.p99); });
}

}  // namespace

void write_report(std::ostream& out, const Workload& workload, const Run& run) {
  out << word(workload.source) << ": policy " << to_string(run.options.policy) << ", "
      << where_it_ran(run.options) << "\n\n";
  Table waits;
  waits.add_row({"class", "jobs", "done", "refused", "missed deadline", "mean wait", "p50 wait", "p99 wait",
                 "max wait"});
  for (Priority priority : highest_first) {
    const Tally& tally = tally_of(run.statistics, priority);
    if (tally.job_count > 0) add_tally(waits, to_string(priority), tally);
  }
  add_tally(waits, "all", run.statistics.all);
  waits.write(out);

  out << "\n";
  out << "utilisation  " << percent(run.statistics.utilisation_permille) << "\n"
      << "makespan     " << readable_time(run.statistics.makespan) << "\n"
      << "wall time    " << wall_text(run.wall_time) << "\n";
  write_what_was_assumed(out, workload);
  write_refusals(out, workload, run, {Fate::End::queue_full, Fate::End::too_wide, Fate::End::skipped});
  if (run.statistics.queue_full_count > 0) out << "--capacity lets more jobs wait\n";
}

void write_comparison(std::ostream& out, const Workload& workload, const std::vector<Run>& runs) {
  out << word(workload.source) << ": " << plural(workload.jobs.size(), "job") << ", "
      << where_it_ran(runs.front().options) << "\n";
  write_refusals(out, workload, runs.front(), {Fate::End::too_wide});  // the same under every policy
  out << "\n";
  Table table;
  std::vector<std::string> header = {"policy"};
  for (const Run& run : runs) header.push_back(to_string(run.options.policy));
  table.add_row(std::move(header));

  add_comparison(table, "done", runs, [](const Statistics& s) { return std::to_string(s.all.done_count); });
  add_comparison(table, "refused", runs,
                 [](const Statistics& s) { return std::to_string(s.all.refused_count); });
  add_comparison(table, "missed deadline", runs, [](const Statistics& s) { return missed_text(s.all); });
  add_comparison(table, "mean wait", runs,
                 [](const Statistics& s) { return wait_text(s.all, s.all.waits.mean); });
  add_comparison(table, "p50 wait", runs,
                 [](const Statistics& s) { return wait_text(s.all, s.all.waits.p50); });
  add_comparison(table, "p99 wait", runs,
                 [](const Statistics& s) { return wait_text(s.all, s.all.waits.p99); });
  add_comparison(table, "max wait", runs,
                 [](const Statistics& s) { return wait_text(s.all, s.all.waits.max); });
  for (Priority priority : highest_first) {
    if (tally_of(runs.front().statistics, priority).job_count == 0) continue;
    add_class_comparison(table, to_string(priority), runs, priority);
  }
  add_comparison(table, "utilisation", runs,
                 [](const Statistics& s) { return percent(s.utilisation_permille); });
  add_comparison(table, "makespan", runs, [](const Statistics& s) { return readable_time(s.makespan); });
  table.write(out);
  write_what_was_assumed(out, workload);
  bool some_found_it_full = std::any_of(runs.begin(), runs.end(),
                                        [](const Run& run) { return run.statistics.queue_full_count > 0; });
  if (some_found_it_full) {
    out << "whom a full queue refuses depends on the policy: --policy NAME lists them\n"
        << "--capacity lets more jobs wait\n";
  }
}

}  // namespace bide_jobs
