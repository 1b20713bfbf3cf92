#pragma once

#include <cstddef>
#include <span>

#include <bide/executor/driver.hpp>

namespace bide {

class Executor;

/// Memory whose pages the kernel keeps at hand: reads and writes of files that lie within it need not look them up each
/// time. For buffers that are used over and over, above all past the page cache (O_DIRECT). Nothing else changes.
///
/// Where the driver can't (epoll, more than 16 stretches, a limit of locked memory) it has no effect, and says so.
/// Owns:     nothing: the memory stays the caller's, and there, while this lives.
/// Requires: made within a run of the executor, or before it. May outlive the executor.
class RegisteredMemory {
 public:
  /// Throws: std::system_error: no driver can be had.
  RegisteredMemory(Executor& executor, std::span<std::byte> memory);
  ~RegisteredMemory();
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  bool effective() const { return effective_; }

 private:
  std::span<std::byte> memory_;
  Driver::Life driver_;
  bool effective_;
};

}  // namespace bide
