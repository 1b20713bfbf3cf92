#pragma once

namespace bide_jobs {

/// `bide-jobs plan ...` and `bide-jobs serve ...`, `argv[0]` being that word.
///
/// Returns: the exit code. Throws: InputError for what can't be understood or used.
int plan_command(int argc, const char* const* argv);
int serve_command(int argc, const char* const* argv);

}  // namespace bide_jobs
