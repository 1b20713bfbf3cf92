#include "subcommands.hpp"

#include "command_line.hpp"
#include "input_error.hpp"
#include "plan.hpp"
#include "quoted.hpp"
#include "replay.hpp"
#include "report.hpp"
#include "serve.hpp"
#include "time_text.hpp"
#include "timeline.hpp"
#include "worker.hpp"
#include "workload_reader.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace bide_jobs {
namespace {

/// Returns: false, the user only wanted help, which was given.
bool parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return false;
  } catch (const CLI::ParseError& error) {
    throw InputError("command line", std::string(error.what()) + " (see " + app.get_name() + " --help)");
  }
  return true;
}

void add_time(CLI::App& app, const std::string& name, Nanoseconds& time, const std::string& text) {
  app.add_option_function<std::string>(
         name,
         [name, &time](const std::string& given) {
           const ParsedTime parsed = parse_time(given);
           if (parsed.expected != nullptr)
             throw InputError(
                 name, std::string("expected ") + parsed.expected + ", found " + bide_jobs::quoted(given));
           time = parsed.value;
         },
         text)
      ->type_name("TIME");
}

void read_weights(const std::vector<std::string>& given, ServeOptions& options) {
  for (const std::string& one : given) {
    const std::size_t equals = one.find('=');
    std::uint32_t weight = 0;
    if (equals != std::string::npos)
      std::from_chars(one.data() + equals + 1, one.data() + one.size(), weight);
    if (weight == 0 || weight > 1'000'000 || one != one.substr(0, equals) + "=" + std::to_string(weight)) {
      throw InputError("--tenant", "expected a name and a weight from 1 to 1000000, such as blue=3, found " +
                                       bide_jobs::quoted(one));
    }
    options.tenant_weights[one.substr(0, equals)] = weight;
  }
}

/// A plan as a run of the replay, for the timeline; and the replays of its jobs under each policy.
std::vector<Run> runs_of(const Plan& plan, const PlanOptions& options, const std::vector<Policy>& policies) {
  std::vector<Run> runs(1);
  runs[0].options.workers = static_cast<std::int64_t>(options.workers);
  runs[0].history = plan.history;
  for (Policy policy : policies) {
    Run run;
    run.options.policy = policy;
    run.options.workers = static_cast<std::int64_t>(options.workers);
    run.options.capacity = plan.workload.jobs.size();
    run.history = replay(plan.workload, run.options);
    runs.push_back(std::move(run));
  }
  for (Run& run : runs) run.statistics = summarize(plan.workload, run.history, run.options.workers);
  return runs;
}

}  // namespace

int plan_command(int argc, const char* const* argv) {
  CLI::App app(
      "Tells what will run when, and what will be late: runs a file in virtual time as --real would,\n"
      "each job for the median of what its kind has taken (--db), else its duration, its hint, or 1s.",
      "bide-jobs plan");
  std::string file;
  std::string database;
  std::string timeline;
  bool compares = false;
  PlanOptions options;
  options.until = std::chrono::hours(24);
  app.add_option("file", file, "CSV; - is the standard input")->required()->type_name("FILE");
  app.add_option("--workers", options.workers, "jobs at a time (default 1)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}))
      ->type_name("N");
  app.add_option("--db", database, "the database of --real or serve, while neither runs")->type_name("FILE");
  app.add_option("--epoch", options.epoch,
                 "wall time of the instant 0, for cron: nanoseconds since 1970 (default 0)");
  add_time(app, "--until", options.until,
           "what recurs comes up to here (default 24h), or to the last submit time if that is later");
  app.add_flag("--compare", compares, "also: these jobs under all policies side by side");
  app.add_option("--timeline", timeline, "also writes a page that shows who ran when (one HTML file)")
      ->type_name("FILE");
  if (!parse(app, argc, argv)) return 0;

  ReadOptions reading;
  reading.durations = Durations::optional;
  Workload workload = read_workload(file, reading);
  std::map<std::string, Nanoseconds> learned;
  if (!database.empty()) learned = learned_durations(load_store(*open_store(database)));
  take_durations(workload, learned);
  const Plan plan = make_plan(workload, options);
  write_plan(std::cout, plan, options);
  std::vector<Policy> policies;
  if (compares) policies.assign(all_policies.begin(), all_policies.end());
  std::vector<Run> runs = runs_of(plan, options, policies);
  if (compares) {
    std::cout << "\n";
    write_comparison(std::cout, plan.workload, {runs.begin() + 1, runs.end()});
  }
  // The plan itself stands for the scheduler's policy.
  const auto shown = std::remove_if(runs.begin() + 1, runs.end(),
                                    [](const Run& run) { return run.options.policy == Policy::urgency; });
  runs.erase(shown, runs.end());
  if (!timeline.empty()) write_timeline_file(timeline, plan.workload, runs);
  return 0;
}

int serve_command(int argc, const char* const* argv) {
  CLI::App app(
      "Runs jobs that come over HTTP, each a command as a child process, and shows them on a page.\n"
      "The page is at /, the API at /api, metrics for Prometheus at /metrics.",
      "bide-jobs serve");
  ServeOptions options;
  app.add_option("--port", options.port, "port to listen on; 0: any free one")->required()->type_name("P");
  app.add_option("--db", options.database, "a database that keeps the jobs over restarts")->type_name("FILE");
  app.add_option("--file", options.file, "a CSV whose jobs are submitted at the start")->type_name("FILE");
  app.add_option("--workers", options.workers, "commands at a time (default 4)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}))
      ->type_name("N");
  app.add_option("--queue", options.queue, "jobs that may wait; more are refused (default 100000)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}))
      ->type_name("N");
  app.add_option_function<std::vector<std::string>>(
         "--tenant", [&options](const std::vector<std::string>& given) { read_weights(given, options); },
         "shares out the workers among tenants; may be given more than once")
      ->type_name("NAME=WEIGHT");
  app.add_option("--bind", options.bind,
                 "address to listen on (default 127.0.0.1); others than this machine's need --token")
      ->type_name("ADDRESS");
  app.add_option("--token", options.token, "what a client has to know: Authorization: Bearer TOKEN")
      ->type_name("TOKEN");
  app.add_option("--connections", options.connections, "at once; more wait their turn (default 100)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}))
      ->type_name("N");
  add_time(app, "--request-timeout", options.request_timeout,
           "from the first byte of a request to its last (default 10s)");
  if (!parse(app, argc, argv)) return 0;
  return serve(options);
}

}  // namespace bide_jobs
