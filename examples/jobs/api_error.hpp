#pragma once

#include <stdexcept>
#include <string>

namespace bide_jobs {

/// A request that can't be done. `what()` says what was expected.
class ApiError : public std::runtime_error {
 public:
  ApiError(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

}  // namespace bide_jobs
