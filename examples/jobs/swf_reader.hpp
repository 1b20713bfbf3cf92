#pragma once

#include "job.hpp"
#include "workload_reader.hpp"

#include <string>
#include <string_view>

namespace bide_jobs {

/// Reads a trace in the Standard Workload Format: lines of 18 numbers, comments behind `;`, -1 is unknown.
///
/// | field | meaning | what becomes of it |
/// |---|---|---|
/// | 1 | job number | name |
/// | 2 | submit time, seconds | submit |
/// | 4 | run time, seconds | duration |
/// | 5, 8 | allocated, requested processors | slots, the first that is known, with TraceSlots::allocated |
/// | 9 | requested time, seconds | hint |
/// | 11 | status | 2, 3, 4 are parts of a job that has its own line: skipped and counted |
/// | 15, 16 | queue, partition | class, by the ClassMap |
///
/// A job whose submit or run time is unknown is skipped and counted. The recorded wait (3) is not used: the
/// replay finds its own.
///
/// Order:  as in the file.
/// Throws: InputError.
/// Source: Chapin et al., Benchmarks and Standards for the Evaluation of Parallel Job Schedulers, 1999.
Workload parse_swf(std::string_view text, const std::string& source, const ReadOptions& options);

}  // namespace bide_jobs
