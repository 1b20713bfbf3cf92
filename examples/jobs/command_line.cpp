#include "command_line.hpp"

#include "input_error.hpp"
#include "quoted.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <iostream>
#include <memory>
#include <string_view>

namespace bide_jobs {
namespace {

constexpr const char* description =
    "Replays a workload of jobs in virtual time: each arrives at its submit time, waits in a bounded queue,\n"
    "and holds its slots for its duration. Tells how long they waited and which deadlines they missed.\n"
    "Two more commands, each with its --help: bide-jobs plan FILE, bide-jobs serve --port P.";

constexpr const char* footer = R"(
A CSV has a header with any of the columns name, priority, submit, duration, deadline, hint,
slots in any order; name and duration are required. Priority is critical, high, normal (the
default) or low. Times are 90, 1.5s, 10m or 2h (units ns, us, ms, s, m, h, d); submit and deadline
count from the start of the run. A hint is how long the scheduler believes the job takes.
Column after holds names of jobs that have to end first, such as "build; test:done; audit:failed".
For --real, plan and serve there are kind, retries, timeout, start, every, cron, tenant and command
as well, and duration may be left out.
A trace in the Standard Workload Format (.swf) has 18 numbers a line; -1 is unknown.

Example: which policy meets the deadlines, then why one job went before another
  bide-jobs examples/data/jobs.csv --workers 3 --compare
  bide-jobs examples/data/jobs.csv --workers 3 --explain ledger-asia backup-mail

Exit status: 0 done, 1 the output can't be written, 2 the file or an option can't be used (nothing was run).
)";

[[noreturn]] void refuse(const std::string& option, const std::string& expected, std::string_view found) {
  throw InputError(option, "expected " + expected + ", found " + quoted(found));
}

template <class Number>
Number parse_number(const std::string& option, const std::string& text, Number least, Number most) {
  Number value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    refuse(option, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), text);
  }
  return value;
}

/// Shows of an option its name and its value; what excludes what is said when somebody tries it.
class Formatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
};

/// The options as they were typed; empty where they were not.
struct Typed {
  std::string workers;
  std::string policy;
  std::string capacity;
  std::string deadline_factor;
  std::string format;
  std::string classes;
  std::vector<std::string> explain;
  bool slots = false;
  bool trace = false;
  bool compare = false;
  bool json = false;
  bool real = false;
};

void declare(CLI::App& app, Command& command, Typed& typed) {
  app.footer(footer);
  auto formatter = std::make_shared<Formatter>();
  formatter->column_width(26);
  app.formatter(formatter);
  app.add_option("file", command.file, "CSV or .swf, packed by gzip or not; - is the standard input")
      ->required()
      ->type_name("FILE");
  app.add_option("--workers", typed.workers, "slots; without it as many as the widest job needs")
      ->type_name("N");
  CLI::Option* policy =
      app.add_option("--policy", typed.policy, "fifo, strict, urgency (default) or edf")->type_name("NAME");
  CLI::Option* capacity =
      app.add_option("--capacity", typed.capacity, "jobs that may wait; more are refused (default 256)")
          ->type_name("N");
  app.add_option("--deadline-factor", typed.deadline_factor,
                 "deadline of jobs without one: submit + F x duration; the duration is the hint then")
      ->type_name("F");
  app.add_option("--format", typed.format, "csv or swf, where the name of the file doesn't say it")
      ->type_name("NAME");
  app.add_flag("--slots", typed.slots, "trace: a job takes its allocated processors (default: one slot)");
  app.add_option("--classes", typed.classes,
                 "trace: class by queue or partition, such as queue:0=high,1=low (others are normal)")
      ->type_name("MAP");
  CLI::Option* json = app.add_flag("--json", typed.json, "the result for machines");
  CLI::Option* trace = app.add_flag("--trace", typed.trace,
                                    "a line a decision: who, when, why, who was next; and each refusal");
  CLI::Option* compare = app.add_flag("--compare", typed.compare, "all policies side by side");
  CLI::Option* explain =
      app.add_option("--explain", typed.explain,
                     "why job A started before job B (a name, or @7 for the job of line 7)")
          ->expected(2)
          ->type_name("A B");
  CLI::Option* timeline = app.add_option("--timeline", command.timeline,
                                         "also writes a page that shows who ran when (one HTML file)")
                              ->type_name("FILE");
  CLI::Option* real = app.add_flag(
      "--real", typed.real, "runs the commands now, each as a child process; workers: how many at a time");
  app.add_option("--db", command.database, "with --real: a database that keeps the jobs over restarts")
      ->needs(real)
      ->type_name("FILE");
  real->excludes(json)->excludes(trace)->excludes(compare)->excludes(explain)->excludes(policy);
  real->excludes(capacity)->excludes(timeline);
  trace->excludes(json)->excludes(compare)->excludes(explain);
  explain->excludes(json)->excludes(compare);
  policy->excludes(compare);
}

Output output_of(const Typed& typed) {
  if (typed.real) return Output::real;
  if (typed.trace) return Output::trace;
  if (!typed.explain.empty()) return Output::explanation;
  if (typed.compare) return typed.json ? Output::comparison_json : Output::comparison;
  return typed.json ? Output::json : Output::table;
}

void interpret(const Typed& typed, Command& command) {
  if (!typed.workers.empty()) {
    const std::int64_t most = typed.real ? most_real_workers : most_workers;
    command.workers = parse_number<std::int64_t>("--workers", typed.workers, 1, most);
  }
  if (!typed.capacity.empty()) {
    command.capacity = parse_number<std::size_t>("--capacity", typed.capacity, 0, 1'000'000'000);
  }
  if (!typed.policy.empty()) {
    std::optional<Policy> policy = parse_policy(typed.policy);
    if (!policy) refuse("--policy", "fifo, strict, urgency or edf", typed.policy);
    command.policy = *policy;
  }
  if (!typed.format.empty()) {
    if (typed.format != "csv" && typed.format != "swf") refuse("--format", "csv or swf", typed.format);
    command.reading.format = typed.format == "csv" ? Format::csv : Format::swf;
  }
  if (!typed.deadline_factor.empty()) {
    command.reading.deadline_factor = Factor::parse(typed.deadline_factor);
    if (!command.reading.deadline_factor) {
      refuse("--deadline-factor", "a number above 0 such as 3 or 1.5", typed.deadline_factor);
    }
  }
  if (!typed.classes.empty()) command.reading.classes = ClassMap::parse(typed.classes);
  if (typed.slots) command.reading.trace_slots = TraceSlots::allocated;
  command.output = output_of(typed);
  if (typed.real) command.reading.durations = Durations::optional;
  if (!typed.explain.empty()) {
    command.explain_first = typed.explain[0];
    command.explain_second = typed.explain[1];
  }
}

}  // namespace

std::optional<Command> parse_command_line(int argc, const char* const* argv) {
  CLI::App app(description, "bide-jobs");
  Command command;
  Typed typed;
  declare(app, command, typed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw InputError(std::string("command line"), std::string(error.what()) + " (see bide-jobs --help)");
  }
  interpret(typed, command);
  return command;
}

}  // namespace bide_jobs
