#pragma once

#include "job.hpp"
#include "report.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace bide_jobs {

/// Writes a page that shows who ran when on which worker: one HTML file with all in it, which needs no network. Of
/// several runs of one workload it shows one at a time.
///
/// Bound: about 100 bytes a job and 30 a run of it. Times are nanoseconds as JSON numbers: a browser rounds those beyond
/// 104 days, to 512 ns at most.
void write_timeline(std::ostream& out, const Workload& workload, const std::vector<Run>& runs);

/// The same into a file. Throws: InputError, it can't be opened; std::runtime_error, it can't be written.
void write_timeline_file(const std::string& path, const Workload& workload, const std::vector<Run>& runs);

}  // namespace bide_jobs
