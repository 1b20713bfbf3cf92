#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/stream.hpp>

#include "descriptor_count.hpp"

namespace bide::test {

/// The result of one task, run alone with real I/O.
template <class T>
T run_io(Task<T> task, ExecutorOptions options = {}) {
  Executor executor(options);
  Handle<T> handle = executor.submit(std::move(task));
  executor.run();
  return handle.take();
}

/// What a failed call said, and its code.
struct Failure {
  std::error_code code{};
  std::string text{};
};

/// The error of an await that is expected to throw one; nothing where it did not.
template <class F, class... Args>
Task<Failure> failure_of(F function, Args... arguments) {
  Failure failure;
  try {
    Task<> task = function(std::move(arguments)...);
    co_await std::move(task);
  } catch (const std::system_error& error) {
    failure.code = error.code();
    failure.text = error.what();
  }
  co_return failure;
}

inline std::string bytes_that_count(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>('a' + at * 7 % 26 + (at / 26) % 3);
  return text;
}

}  // namespace bide::test
