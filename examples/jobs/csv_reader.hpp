#pragma once

#include "job.hpp"
#include "workload_reader.hpp"

#include <string>
#include <string_view>

namespace bide_jobs {

/// Reads a CSV (RFC 4180: quotes, either line end) whose header names its columns in any order:
/// name, priority, submit, duration, deadline, hint, slots. Only name and duration are required; an empty
/// field takes the default: normal, 0, none, none, 1. Blank lines count as lines and are no jobs.
///
/// Order:  as in the file.
/// Throws: InputError.
Workload parse_csv(std::string_view text, const std::string& source, const ReadOptions& options);

}  // namespace bide_jobs
