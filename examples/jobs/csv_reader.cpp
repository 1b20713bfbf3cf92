#include "csv_reader.hpp"

#include "csv_records.hpp"
#include "input_error.hpp"
#include "job_bounds.hpp"
#include "quoted.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace bide_jobs {
namespace {

constexpr std::string_view all_columns = "name, priority, submit, duration, deadline, hint, slots";

enum class Column : std::size_t { name, priority, submit, duration, deadline, hint, slots };
constexpr std::size_t column_count = 7;
constexpr std::array<std::string_view, column_count> column_names = {
    "name", "priority", "submit", "duration", "deadline", "hint", "slots"};

/// Turns records into jobs, by the columns that the header names.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& source, const ReadOptions& options)
      : source_(source), records_(text, source), bounds_(options.deadline_factor) {}

  Workload read() {
    Workload workload;
    workload.source = source_;
    read_header();
    while (records_.next()) workload.jobs.push_back(read_job());
    return workload;
  }

 private:
  void read_header();
  Job read_job();
  const CsvField* field(Column column) const;
  Nanoseconds time(const CsvField& field) const;
  [[noreturn]] void refuse(Position position, std::string_view expected, std::string_view found) const;

  const std::string& source_;
  CsvRecords records_;
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
      refuse(field.position, "a column name (" + std::string(all_columns) + ")", quoted(field.text));
    }
    if (place_of_[column] != 0) refuse(field.position, "each column once", "a second " + quoted(field.text));
    place_of_[column] = i + 1;
  }
  for (Column column : {Column::name, Column::duration}) {
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

std::int64_t slot_count(std::string_view text) {
  std::int64_t slots = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  return error == std::errc() && end == text.data() + text.size() ? slots : 0;
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
  const CsvField& duration = required(Column::duration);
  job.duration = time(duration);
  if (const CsvField* priority = field(Column::priority)) {
    std::optional<Priority> parsed = parse_class(priority->text);
    if (!parsed) refuse(priority->position, "critical, high, normal or low", quoted(priority->text));
    job.priority = *parsed;
  }
  if (const CsvField* submit = field(Column::submit)) job.submit = time(*submit);
  if (const CsvField* deadline = field(Column::deadline)) job.deadline = time(*deadline);
  if (const CsvField* hint = field(Column::hint)) job.hint = time(*hint);
  if (const CsvField* slots = field(Column::slots)) {
    job.slots = slot_count(slots->text);
    if (job.slots < 1) refuse(slots->position, "a whole number of slots, 1 or more", quoted(slots->text));
  }
  if (const char* expected = bounds_.complete(job))
    refuse(duration.position, expected, quoted(duration.text));
  return job;
}

}  // namespace

Workload parse_csv(std::string_view text, const std::string& source, const ReadOptions& options) {
  return CsvReader(text, source, options).read();
}

}  // namespace bide_jobs
