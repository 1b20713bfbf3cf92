#pragma once

#include "job.hpp"

#include <cstddef>
#include <string>

namespace bide_jobs {

struct RealRunOptions {
  std::size_t workers = 1;
  std::string database;  // where jobs are kept over restarts; empty: nowhere
};

/// Runs the commands of a file for real, as child processes, and tells on stdout how each went. Returns when all have
/// ended, or after SIGINT or SIGTERM, which kill what runs; while something recurs only then.
///
/// Returns: the program's exit code: 0 all succeeded, 1 some did not.
/// Throws:  InputError for a job without a command, or one that a JobScheduler does not take.
int run_for_real(const Workload& workload, const RealRunOptions& options);

}  // namespace bide_jobs
