#pragma once

#include <exception>

namespace bide {

/// Thrown by a wait whose thread, or a scope around it, was cancelled.
///
/// Not derived from std::exception: a catch of std::exception on the way must not swallow a cancel. Let it
/// pass, or catch it, clean up and rethrow. The cancel stays in force: the next wait throws again.
class Cancelled {};

/// True when the exception is a Cancelled. Requires: not null.
bool is_cancelled(const std::exception_ptr& error) noexcept;

}  // namespace bide
