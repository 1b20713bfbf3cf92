#pragma once

#include <cerrno>
#include <cstdint>

#include <bide/executor/operation.hpp>

namespace bide {

/// The result of an attempt, besides what a call returns, and negative errnos.
struct Attempt {
  static constexpr std::int64_t not_now = -EAGAIN;   // once the descriptor is ready
  static constexpr std::int64_t blocks = INT64_MIN;  // only a call that may block does it
  static constexpr std::int64_t later =
      INT64_MIN + 1;  // nothing will tell when: a Unix socket's peer is busy
  static constexpr std::int64_t no_buffer = INT64_MIN + 2;
};

/// Does the operation if that takes no waiting, and never blocks, whatever the descriptor's own flags.
///
/// Sockets are asked not to wait call by call (MSG_DONTWAIT); a listener has to be non-blocking, see `EpollDriver`; a
/// connect makes its socket non-blocking for that one call. Read and write ask the kernel not to wait (RWF_NOWAIT). A
/// kernel that has no such answer for a descriptor:
/// * a pipe is polled, then read, or written to by at most PIPE_BUF bytes: neither waits unless another reader or writer
///   of the same end comes between;
/// * what else can be polled, as a terminal or a signalfd, is polled and read; a write to it may wait for all to be taken, and blocks;
/// * a file blocks.
///
/// Of an operation with an offset, reads come here first: what the page cache has needs no thread. Kinds that only ever
/// block, as open, are not for here.
std::int64_t attempt(Operation& operation) noexcept;

}  // namespace bide
