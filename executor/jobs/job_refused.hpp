#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace bide {

/// A job was not accepted, and nothing has changed.
class JobRefused : public std::runtime_error {
 public:
  enum class Reason : std::uint8_t {
    full,            ///< The bounds of its class, its pool or the scheduler; its Overflow says not to wait.
    infeasible,      ///< It would be late (PoolOptions::infeasible).
    cycle,           ///< It would wait for itself; the message names the way round.
    unknown_parent,  ///< It depends on a job that is not known (PoolOptions::unknown_parent).
    closed,          ///< The scheduler shuts down.
  };

  JobRefused(Reason why, const std::string& message) : std::runtime_error(message), reason_(why) {}

  Reason reason() const { return reason_; }

 private:
  Reason reason_;
};

}  // namespace bide
