#pragma once

#include <exception>
#include <vector>

#include <bide/executor/executor.hpp>

namespace bide {

/// In the handler that catches what a group threw: the errors that came after it, in the order in which they
/// came. Empty when there were none. A plain call, in a thread or post. See Executor::attached_errors.
inline std::vector<std::exception_ptr> attached_errors(
    const std::exception_ptr& error = std::current_exception()) {
  return Executor::current().attached_errors(error);
}

}  // namespace bide
