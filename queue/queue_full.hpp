#pragma once

#include <stdexcept>
#include <string>

namespace bide {

/// A bounded queue, or an executor, is at its capacity. Whatever was offered is refused whole, and nothing
/// has changed.
class QueueFull : public std::runtime_error {
 public:
  explicit QueueFull(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace bide
