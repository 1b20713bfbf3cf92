#pragma once

#include <source_location>
#include <stdexcept>

#include <bide/timers/instant.hpp>

namespace bide {

/// The time that a `timeout` or `deadline` gave was up. `what()`: "timed out after 5 s at server.cpp:17".
class TimedOut : public std::runtime_error {
 public:
  TimedOut(Duration limit, std::source_location where);
  TimedOut(Instant deadline, std::source_location where);

  /// The line of the `timeout` or `deadline`.
  std::source_location where() const { return where_; }

 private:
  std::source_location where_;
};

}  // namespace bide
