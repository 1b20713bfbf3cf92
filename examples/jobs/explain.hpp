#pragma once

#include "job.hpp"
#include "replay.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bide_jobs {

/// The job with this name, or, for `@7`, the one of line 7 (names may repeat, lines don't).
/// Throws: InputError when there is none, or when several jobs have the name.
std::uint32_t find_job(const Workload& workload, std::string_view name);

/// One sentence: why `first` started before `second`; or that it did not, and why.
/// Requires: different jobs of this workload, and the options of the replay that made the history.
std::string explain(const Workload& workload, const History& history, const ReplayOptions& options,
                    std::uint32_t first, std::uint32_t second);

/// Why a refused job was refused, to go on after its name: `needs 8 slots, there are 4`.
std::string refusal_text(const Job& job, const Fate& fate, const ReplayOptions& options);

}  // namespace bide_jobs
