#pragma once

#include "class_map.hpp"
#include "job.hpp"
#include "time_text.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bide_jobs {

enum class Format { guess, csv, swf };

/// Where the slots of a trace's job come from. A CSV says them itself, in its column `slots`.
enum class TraceSlots { one, allocated };

/// Whether a job of a CSV has to say how long it takes.
enum class Durations { required, optional };

struct ReadOptions {
  Format format = Format::guess;  // by the file's name, else by its first character
  TraceSlots trace_slots = TraceSlots::one;
  Durations durations = Durations::required;
  ClassMap classes;                       // for traces
  std::optional<Factor> deadline_factor;  // for jobs without a deadline
};

/// Reads a whole workload; `-` is the standard input. Compressed with gzip or not: the bytes tell.
///
/// Throws: InputError with file, line, column and what was expected, for the first thing that is wrong.
Workload read_workload(const std::string& path, const ReadOptions& options);

/// The same from memory; `source` is what messages call it.
Workload parse_workload(std::string_view text, const std::string& source, const ReadOptions& options);

}  // namespace bide_jobs
