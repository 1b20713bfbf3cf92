// bide-jobs: replays a workload of jobs in virtual time. Try: bide-jobs examples/data/jobs.csv --workers 3
// --compare

#include "command_line.hpp"
#include "explain.hpp"
#include "input_error.hpp"
#include "progress_bar.hpp"
#include "real_run.hpp"
#include "report.hpp"
#include "subcommands.hpp"
#include "timeline.hpp"
#include "trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bide_jobs {
namespace {

std::chrono::nanoseconds wall_clock() { return std::chrono::steady_clock::now().time_since_epoch(); }

std::int64_t widest_job(const Workload& workload) {
  std::int64_t widest = 1;
  for (const Job& job : workload.jobs) widest = std::max(widest, job.slots);
  return std::min(widest, most_workers);
}

/// Replays the workload once for each policy; on a terminal with a progress bar for all of them together.
std::vector<Run> replay_each(const Command& command, const Workload& workload,
                             const std::vector<Policy>& policies) {
  std::optional<ProgressBar> bar;
  if (::isatty(STDERR_FILENO) != 0)
    bar.emplace(std::cerr, workload.jobs.size() * policies.size(), wall_clock);

  std::vector<Run> runs;
  for (Policy policy : policies) {
    Run run;
    run.options.policy = policy;
    run.options.workers = command.workers.value_or(widest_job(workload));
    run.options.capacity = command.capacity;
    std::size_t done_before = runs.size() * workload.jobs.size();
    if (bar)
      run.options.on_progress = [&bar, done_before](std::size_t done) { bar->show(done_before + done); };
    std::chrono::nanoseconds start = wall_clock();
    run.history = replay(workload, run.options);
    run.wall_time = wall_clock() - start;
    run.options.on_progress = nullptr;
    run.statistics = summarize(workload, run.history, run.options.workers);
    runs.push_back(std::move(run));
  }
  return runs;
}

void write_result(const Command& command, const Workload& workload, std::chrono::nanoseconds reading_time) {
  bool compares = command.output == Output::comparison || command.output == Output::comparison_json;
  std::vector<Policy> policies = {command.policy};
  if (compares) policies.assign(all_policies.begin(), all_policies.end());

  std::uint32_t first = 0;
  std::uint32_t second = 0;
  if (command.output == Output::explanation) {
    first = find_job(workload, command.explain_first);
    second = find_job(workload, command.explain_second);
    if (first == second) throw InputError("--explain", "expected two different jobs");
  }

  std::vector<Run> runs = replay_each(command, workload, policies);
  if (!command.timeline.empty()) write_timeline_file(command.timeline, workload, runs);
  Run& run = runs.front();
  run.wall_time += reading_time;
  switch (command.output) {
    case Output::table:
      return write_report(std::cout, workload, run);
    case Output::json:
      return write_json(std::cout, workload, run);
    case Output::trace:
      return write_trace(std::cout, workload, run.history, run.options);
    case Output::explanation:
      std::cout << explain(workload, run.history, run.options, first, second) << "\n";
      return;
    case Output::comparison:
      return write_comparison(std::cout, workload, runs);
    case Output::comparison_json:
      return write_json(std::cout, workload, runs);
    case Output::real:
      return;
  }
}

int replay_or_run(int argc, const char* const* argv) {
  std::optional<Command> command = parse_command_line(argc, argv);
  if (!command) return 0;
  std::chrono::nanoseconds start = wall_clock();
  Workload workload = read_workload(command->file, command->reading);
  if (command->output == Output::real) {
    const auto workers = static_cast<std::size_t>(command->workers.value_or(1));
    return run_for_real(workload, {.workers = workers, .database = command->database});
  }
  write_result(*command, workload, wall_clock() - start);
  return 0;
}

int run_program(int argc, const char* const* argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  int code = 0;
  if (first == "plan") {
    code = plan_command(argc - 1, argv + 1);
  } else if (first == "serve") {
    code = serve_command(argc - 1, argv + 1);
  } else {
    code = replay_or_run(argc, argv);
  }
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << "bide-jobs: the output can't be written\n";
  return 1;
}

}  // namespace
}  // namespace bide_jobs

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    return bide_jobs::run_program(argc, argv);
  } catch (const bide_jobs::InputError& error) {
    std::cerr << "bide-jobs: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "bide-jobs: " << error.what() << "\n";
    return 1;
  }
}
