#pragma once

#include "api_error.hpp"
#include "job_json.hpp"

#include <bide/executor/jobs/job.hpp>
#include <bide/executor/jobs/recurring.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace bide_jobs {

/// What a job may bring: so much is kept of each that waits.
inline constexpr std::size_t most_job_bytes = std::size_t{64} * 1024;

/// What recurs faster keeps a worker busy with nothing else.
inline constexpr bide::Duration least_interval = std::chrono::milliseconds(10);

/// Throws: ApiError 413: longer than that; 400: no JSON, with line and column; or no object.
Json parse_object(const std::string& text);

/// Throws: ApiError 422: a member that is not known, is missing, or is not what was expected.
bide::Job job_from(const Json& json);
bide::Recurring recurring_from(const Json& json);

}  // namespace bide_jobs
