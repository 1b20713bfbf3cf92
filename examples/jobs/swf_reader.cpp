#include "swf_reader.hpp"

#include "input_error.hpp"
#include "job_bounds.hpp"
#include "quoted.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace bide_jobs {
namespace {

constexpr std::size_t field_count = 18;

/// Fields by their number in the format, from 1.
enum Field : std::size_t {
  job_number = 1,
  submit_time = 2,
  run_time = 4,
  allocated_processors = 5,
  requested_processors = 8,
  requested_time = 9,
  status = 11,
  queue_number = 15,
  partition_number = 16,
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_number(std::string_view text) {
  std::size_t first = !text.empty() && (text.front() == '-' || text.front() == '+') ? 1 : 0;
  return first < text.size() && text[first] >= '0' && text[first] <= '9' &&
         text.find_first_not_of("0123456789.eE+-", first) == std::string_view::npos;
}

class SwfReader {
 public:
  SwfReader(std::string_view text, const std::string& source, const ReadOptions& options)
      : text_(text), source_(source), options_(options), bounds_(options.deadline_factor) {}

  Workload read();

 private:
  bool split_line();
  void read_job();
  std::string_view field(std::size_t number) const { return fields_[number - 1]; }
  std::optional<Nanoseconds> time(std::size_t number) const;
  std::optional<std::int64_t> count(std::size_t number) const;
  std::int64_t slots() const;
  Priority priority() const;
  [[noreturn]] void refuse(std::string_view place, std::string_view expected, std::string_view found) const;

  std::string_view text_;
  const std::string& source_;
  const ReadOptions& options_;
  JobBounds bounds_;
  std::size_t line_number_ = 0;
  std::string_view line_;
  std::array<std::string_view, field_count> fields_;
  Workload workload_;
};

/// `place` is a part of the line, which gives the column.
void SwfReader::refuse(std::string_view place, std::string_view expected, std::string_view found) const {
  auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
  auto characters = std::count_if(line_.data(), place.data(), is_character);
  throw InputError(source_, {line_number_, static_cast<std::size_t>(characters) + 1},
                   "expected " + std::string(expected) + ", found " + std::string(found));
}

/// Fills `fields_`; false for a line without a job.
bool SwfReader::split_line() {
  std::size_t found = 0;
  std::size_t at = 0;
  while (true) {
    while (at < line_.size() && is_blank(line_[at])) ++at;
    if (at == line_.size() || line_[at] == ';') break;
    std::size_t start = at;
    while (at < line_.size() && !is_blank(line_[at]) && line_[at] != ';') ++at;
    std::string_view text = line_.substr(start, at - start);
    if (found == field_count) refuse(text, "18 fields", "a further one: " + quoted(text));
    if (!is_number(text)) refuse(text, "a number", quoted(text));
    fields_[found++] = text;
  }
  if (found == 0) return false;
  if (found < field_count) refuse(line_.substr(at), "18 fields", std::to_string(found));
  return true;
}

std::optional<Nanoseconds> SwfReader::time(std::size_t number) const {
  if (field(number) == "-1") return std::nullopt;
  ParsedTime parsed = parse_time(field(number));
  if (parsed.expected != nullptr) {
    refuse(field(number), std::string(parsed.expected) + ", or -1 for unknown", quoted(field(number)));
  }
  return parsed.value;
}

std::optional<std::int64_t> SwfReader::count(std::size_t number) const {
  std::string_view text = field(number);
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < -1) {
    refuse(text, "a whole number, or -1 for unknown", quoted(text));
  }
  return value == -1 ? std::nullopt : std::optional(value);
}

std::int64_t SwfReader::slots() const {
  if (options_.trace_slots == TraceSlots::one) return 1;
  for (std::size_t number : {allocated_processors, requested_processors}) {
    std::optional<std::int64_t> known = count(number);
    if (known && *known > 0) return *known;
  }
  return 1;
}

Priority SwfReader::priority() const {
  if (options_.classes.field() == ClassMap::Field::none) return Priority::normal;
  bool by_queue = options_.classes.field() == ClassMap::Field::queue;
  std::optional<std::int64_t> number = count(by_queue ? queue_number : partition_number);
  return number ? options_.classes.of(*number) : Priority::normal;
}

void SwfReader::read_job() {
  std::optional<std::int64_t> how_it_ended = count(status);
  if (how_it_ended && *how_it_ended >= 2 && *how_it_ended <= 4) {
    ++workload_.partial_execution_count;
    return;
  }
  std::optional<Nanoseconds> submit = time(submit_time);
  std::optional<Nanoseconds> duration = time(run_time);
  if (!submit || !duration) {
    ++workload_.unknown_time_count;
    return;
  }
  Job job;
  job.name = field(job_number);
  job.line = line_number_;
  job.priority = priority();
  job.submit = *submit;
  job.duration = *duration;
  job.hint = time(requested_time);
  job.slots = slots();
  if (const char* expected = bounds_.complete(job))
    refuse(field(run_time), expected, quoted(field(run_time)));
  workload_.jobs.push_back(std::move(job));
}

Workload SwfReader::read() {
  workload_.source = source_;
  while (!text_.empty()) {
    std::size_t end = text_.find('\n');
    line_ = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    ++line_number_;
    if (split_line()) read_job();
  }
  return std::move(workload_);
}

}  // namespace

Workload parse_swf(std::string_view text, const std::string& source, const ReadOptions& options) {
  return SwfReader(text, source, options).read();
}

}  // namespace bide_jobs
