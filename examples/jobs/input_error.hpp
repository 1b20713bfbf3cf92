#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace bide_jobs {

/// A place in a text. Both count from 1; columns count characters of UTF-8, not bytes.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// An input that can't be used. `what()` is one line: where, what was expected, what was found.
class InputError : public std::runtime_error {
 public:
  /// `source:line:column: message`
  InputError(const std::string& source, Position position, const std::string& message)
      : std::runtime_error(source + ":" + std::to_string(position.line) + ":" +
                           std::to_string(position.column) + ": " + message) {}

  /// `subject: message`, for what has no lines: a missing file, a wrong option.
  InputError(const std::string& subject, const std::string& message)
      : std::runtime_error(subject + ": " + message) {}
};

}  // namespace bide_jobs
