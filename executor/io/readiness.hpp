#pragma once

#include <poll.h>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/io/io_error.hpp>
#include <bide/executor/operation.hpp>

namespace bide {

/// The wait for a descriptor to be ready.
class [[nodiscard]] Readiness final : public OperationWait {
 public:
  Readiness(int number, std::uint32_t events, std::source_location where) : OperationWait(Kind::poll, where) {
    descriptor = number;
    flags = events;
  }

  bool await_ready() { return enter(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), driver_of(*thread()->executor));
  }
  std::uint32_t await_resume() const {
    const std::int64_t ended = end();
    if (ended < 0) throw_io_error(ended, describe());
    return static_cast<std::uint32_t>(ended);
  }

  std::string describe() const override {
    return "descriptor " + std::to_string(descriptor) +
           ((flags & POLLOUT) != 0 ? " to be writable" : " to be readable");
  }
};

/// `co_await readable(fd)`: suspends until a read of the descriptor would not block, for descriptors of other
/// libraries. `writable`: likewise, for a write.
///
/// Suspends: always. Cancellation point. Several threads may wait for one descriptor.
/// Returns:  POLL* of what holds: also POLLHUP and POLLERR, where the read or write fails or ends at once.
/// Throws:   Cancelled; std::system_error.
/// Requires: the descriptor stays open until the await is over. A regular file is always ready.
[[nodiscard]] inline Readiness readable(int descriptor,
                                        std::source_location where = std::source_location::current()) {
  return Readiness(descriptor, POLLIN, where);
}
[[nodiscard]] inline Readiness writable(int descriptor,
                                        std::source_location where = std::source_location::current()) {
  return Readiness(descriptor, POLLOUT, where);
}

}  // namespace bide
