#include "csv_reader.hpp"

#include "after_names.hpp"
#include "csv_records.hpp"
#include "input_error.hpp"
#include "job_bounds.hpp"
#include "quoted.hpp"

#include <bide/executor/jobs/cron.hpp>

#include <array>
#include <charconv>
#include <cstdint>

namespace bide_jobs {
namespace {

enum class Column : std::size_t {
  name,
  priority,
  submit,
  duration,
  deadline,
  hint,
  slots,
  after,
  kind,
  retries,
  timeout,
  start,
  every,
  cron,
  tenant,
  command
};
constexpr std::array<std::string_view, 16> column_names = {
    "name", "priority", "submit",  "duration", "deadline", "hint", "slots",  "after",
    "kind", "retries",  "timeout", "start",    "every",    "cron", "tenant", "command"};
constexpr std::size_t column_count = column_names.size();
constexpr std::int64_t most_retries = 1000;

std::string all_columns() {
  std::string text;
  for (std::string_view name : column_names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Turns records into jobs, by the columns that the header names.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& source, const ReadOptions& options)
      : source_(source),
        records_(text, source),
        durations_(options.durations),
        bounds_(options.deadline_factor) {}

  Workload read() {
    Workload workload;
    workload.source = source_;
    read_header();
    while (records_.next()) workload.jobs.push_back(read_job());
    after_names_.resolve(workload.jobs, source_);
    return workload;
  }

 private:
  void read_header();
  Job read_job();
  void read_order(Job& job);
  void read_attempts(Job& job);
  const CsvField* field(Column column) const;
  Nanoseconds time(const CsvField& field) const;
  Nanoseconds time_above_zero(const CsvField& field) const;
  std::string text(Column column) const;
  [[noreturn]] void refuse(Position position, std::string_view expected, std::string_view found) const;

  const std::string& source_;
  CsvRecords records_;
  Durations durations_;
  AfterNames after_names_;
  JobBounds bounds_;
  std::array<std::size_t, column_count> place_of_{};  // of a column in a record, from 1; 0: not there
  std::size_t width_ = 0;
};

void CsvReader::refuse(Position position, std::string_view expected, std::string_view found) const {
  throw InputError(source_, position, "expected " + std::string(expected) + ", found " + std::string(found));
}

void CsvReader::read_header() {
  if (!records_.next()) refuse(records_.end(), "a header with the columns name and duration", "nothing");
  width_ = records_.fields().size();
  for (std::size_t i = 0; i < width_; ++i) {
    const CsvField& field = records_.fields()[i];
    std::size_t column = 0;
    while (column < column_count && column_names[column] != field.text) ++column;
    if (column == column_count) {
      refuse(field.position, "a column name (" + all_columns() + ")", quoted(field.text));
    }
    if (place_of_[column] != 0) refuse(field.position, "each column once", "a second " + quoted(field.text));
    place_of_[column] = i + 1;
  }
  std::vector<Column> required = {Column::name};
  if (durations_ == Durations::required) required.push_back(Column::duration);
  for (Column column : required) {
    std::size_t index = static_cast<std::size_t>(column);
    if (place_of_[index] == 0) {
      refuse(records_.end(), "a column " + quoted(column_names[index]), "the end of the header");
    }
  }
}

/// The field of a column; nullptr when it is empty or the file has no such column.
const CsvField* CsvReader::field(Column column) const {
  std::size_t place = place_of_[static_cast<std::size_t>(column)];
  if (place == 0) return nullptr;
  const CsvField& field = records_.fields()[place - 1];
  return field.text.empty() ? nullptr : &field;
}

Nanoseconds CsvReader::time(const CsvField& field) const {
  ParsedTime parsed = parse_time(field.text);
  if (parsed.expected != nullptr) refuse(field.position, parsed.expected, quoted(field.text));
  return parsed.value;
}

Nanoseconds CsvReader::time_above_zero(const CsvField& field) const {
  const Nanoseconds value = time(field);
  if (value == Nanoseconds::zero()) refuse(field.position, "a time above zero", quoted(field.text));
  return value;
}

std::string CsvReader::text(Column column) const {
  const CsvField* found = field(column);
  return found == nullptr ? std::string() : found->text;
}

/// Returns: -1 for what is no whole number of zero or more.
std::int64_t whole_number(std::string_view text) {
  std::int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

/// When it may start.
void CsvReader::read_order(Job& job) {
  if (const CsvField* after = field(Column::after)) after_names_.add(after->text, after->position);
  after_names_.end_job();
  if (const CsvField* start = field(Column::start)) job.start = time(*start);
  if (const CsvField* every = field(Column::every)) job.every = time_above_zero(*every);
  if (const CsvField* cron = field(Column::cron)) {
    if (job.every) refuse(cron->position, "every or cron, not both", quoted(cron->text));
    job.cron = cron->text;
    try {
      static_cast<void>(bide::Cron(job.cron));
    } catch (const bide::CronError& error) {
      throw InputError(source_, cron->position, error.what());
    }
  }
  const CsvField* recurs = field(job.every ? Column::every : Column::cron);
  if (recurs == nullptr) return;
  for (Column column : {Column::start, Column::after}) {
    const CsvField* other = field(column);
    if (other == nullptr) continue;
    refuse(other->position, "an empty field for a job that recurs", quoted(other->text));
  }
}

/// What each attempt does, and how often it is made.
void CsvReader::read_attempts(Job& job) {
  job.kind = text(Column::kind);
  job.tenant = text(Column::tenant);
  if (const CsvField* command = field(Column::command)) {
    if (command->text.find('\0') != std::string::npos)
      refuse(command->position, "a command without NUL", quoted(command->text));
    job.command = command->text;
  }
  if (const CsvField* timeout = field(Column::timeout)) job.timeout = time_above_zero(*timeout);
  if (const CsvField* retries = field(Column::retries)) {
    const std::int64_t count = whole_number(retries->text);
    if (count < 0 || count > most_retries)
      refuse(retries->position, "a whole number from 0 to 1000", quoted(retries->text));
    job.retries = static_cast<std::uint32_t>(count);
  }
}

Job CsvReader::read_job() {
  const std::vector<CsvField>& fields = records_.fields();
  if (fields.size() != width_) {
    Position place = fields.size() < width_ ? records_.end() : fields[width_].position;
    refuse(place, std::to_string(width_) + " fields as in the header", std::to_string(fields.size()));
  }
  auto required = [&](Column column) -> const CsvField& {
    std::size_t index = static_cast<std::size_t>(column);
    const CsvField& required_field = fields[place_of_[index] - 1];
    if (required_field.text.empty()) {
      refuse(required_field.position, "a " + std::string(column_names[index]), "an empty field");
    }
    return required_field;
  };

  Job job;
  job.line = fields.front().position.line;
  job.name = required(Column::name).text;
  const CsvField* duration = field(Column::duration);
  if (duration == nullptr && durations_ == Durations::required) duration = &required(Column::duration);
  if (duration != nullptr) job.duration = time(*duration);
  if (const CsvField* priority = field(Column::priority)) {
    std::optional<Priority> parsed = parse_class(priority->text);
    if (!parsed) refuse(priority->position, "critical, high, normal or low", quoted(priority->text));
    job.priority = *parsed;
  }
  if (const CsvField* submit = field(Column::submit)) job.submit = time(*submit);
  if (const CsvField* deadline = field(Column::deadline)) job.deadline = time(*deadline);
  if (const CsvField* hint = field(Column::hint)) job.hint = time(*hint);
  if (const CsvField* slots = field(Column::slots)) {
    job.slots = whole_number(slots->text);
    if (job.slots < 1) refuse(slots->position, "a whole number of slots, 1 or more", quoted(slots->text));
  }
  read_order(job);
  read_attempts(job);
  if (const char* expected = bounds_.complete(job)) {
    const CsvField& blamed = duration == nullptr ? fields.front() : *duration;
    refuse(blamed.position, expected, quoted(blamed.text));
  }
  return job;
}

}  // namespace

Workload parse_csv(std::string_view text, const std::string& source, const ReadOptions& options) {
  return CsvReader(text, source, options).read();
}

}  // namespace bide_jobs
