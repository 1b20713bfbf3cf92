#pragma once

#include "job.hpp"
#include "policy.hpp"
#include "replay.hpp"

#include <iosfwd>

namespace bide_jobs {

/// Writes a line for each decision and each refused job, in the order in which they happened:
///
///     at=1s job=C start=1s class=low seq=2 lst=5s score=1012.000 slots=1/1
///       next=A class=high seq=0 lst=- score=1002.000 rule=score           (broken here, one line there)
///     at=3s job=D refused=queue_full line=5 class=normal waiting=2
///     at=4s job=E refused=too_wide line=6 class=high slots=3/1
///
/// at      when the job was chosen; start is later when it had to wait at the head for its slots
/// slots   how many it needs, of how many that were free; of all, when it is refused for them
/// next    who would have been chosen without it, with the same four values; `-` when nobody else waited
/// rule    what decided between the two: score, class, lst (latest start time), sequence; alone
/// score   that of the policy urgency, whatever the policy, in points; it decides under urgency only
/// refused queue_full: `waiting` jobs waited already; too_wide: it never fits; skipped: by how a parent
///         ended; line is that of the input
///
/// Integers only: the same workload gives the same bytes from every compiler.
void write_trace(std::ostream& out, const Workload& workload, const History& history,
                 const ReplayOptions& options);

/// Milli-points as points: `1012.000`.
std::string score_text(bide::urgency::Score score);

}  // namespace bide_jobs
