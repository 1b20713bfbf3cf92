#pragma once

#include <bide/executor/jobs/job_context.hpp>
#include <bide/executor/jobs/job_outcome.hpp>
#include <bide/executor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bide_jobs {

/// What a command has written: its first and its last bytes, and how many there were between them.
///
/// Bound: `first_bytes` + `last_bytes`, whatever is added.
class BoundedOutput {
 public:
  static constexpr std::size_t first_bytes = 4 * 1024;
  static constexpr std::size_t last_bytes = 12 * 1024;

  void add(std::span<const std::byte> bytes);
  /// `first[... 123 bytes left out ...]last`
  std::string text() const;

 private:
  std::string first_;
  std::string last_;  // up to twice its bound, so that it is cut seldom
  std::uint64_t left_out_count_ = 0;
};

/// One attempt at a job whose payload is a command: a child process, `/bin/sh -c PAYLOAD`, in a process group of its
/// own, with BIDE_JOB_ID and BIDE_JOB_ATTEMPT in its environment and nothing to read.
///
/// A cancel, also by the job's timeout, kills the group; so does the end of the shell for what it has left running. What
/// has left the group runs on, and is read from for 1 s more at most.
/// Returns: success with the output (both streams) for exit status 0; else what may be retried: how it ended, and the
///          output on the next lines. A shell that can't be started fails for good.
bide::Task<bide::JobOutcome> run_command(bide::JobContext& context);

}  // namespace bide_jobs
