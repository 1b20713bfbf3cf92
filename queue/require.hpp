#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace bide {

/// Ends the process with `message` and the caller's line on stderr when `condition` does not hold.
///
/// For programmer errors only: a task awaited twice, a mutex destroyed with waiters. On in every build, so
/// that a broken contract stops at its cause and not in the data it spoiled.
/// Cost: one predictable branch.
[[noreturn]] inline void contract_broken(const char* message, std::source_location where) {
  std::fprintf(stderr, "bide: %s (%s:%u)\n", message, where.file_name(), static_cast<unsigned>(where.line()));
  std::abort();
}

inline void require(bool condition, const char* message,
                    std::source_location where = std::source_location::current()) {
  if (!condition) [[unlikely]]
    contract_broken(message, where);
}

}  // namespace bide
