#pragma once

#include "job.hpp"
#include "workload_reader.hpp"

#include <string>
#include <string_view>

namespace bide_jobs {

/// Reads a CSV (RFC 4180: quotes, either line end) whose header names its columns in any order:
/// name, priority, submit, duration, deadline, hint, slots, after, kind, retries, timeout, start, every, cron, tenant,
/// command. Only name, and duration unless ReadOptions say otherwise, are required; an empty field takes the default:
/// normal, 0, none, none, 1, none and so on. Blank lines count as lines and are no jobs.
///
/// after: names of other jobs, in any order of the lines, with `;` between them: `build; test:done; deploy:failed`. The
/// job starts when each has succeeded, ended in any way (`:done`) or failed (`:failed`).
///
/// Order:  as in the file.
/// Throws: InputError.
Workload parse_csv(std::string_view text, const std::string& source, const ReadOptions& options);

}  // namespace bide_jobs
