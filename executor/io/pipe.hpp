#pragma once

#include <cstddef>
#include <source_location>
#include <span>
#include <string>
#include <utility>

#include <bide/executor/io/descriptor.hpp>
#include <bide/executor/io/transfer.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// What both ends of a pipe have in common.
///
/// Cancel, moves, destruction and errors as for StreamSocket.
class PipeEnd {
 public:
  [[nodiscard]] CloseDescriptor close(std::source_location where = std::source_location::current());
  bool is_open() const { return descriptor_.open(); }
  std::string name() const { return name_; }
  int number() const { return descriptor_.number(); }

 protected:
  PipeEnd() = default;
  /// `name`: how errors call it; not copied.
  PipeEnd(Descriptor descriptor, const char* name) noexcept
      : descriptor_(std::move(descriptor)), name_(name) {}

  Transfer transfer(Operation::Kind kind, const char* verb) const;

  Descriptor descriptor_;
  const char* name_ = "no pipe";
};

/// The end of a pipe that is read, or standard input. A ByteSource (executor/io/stream.hpp).
class PipeReader : public PipeEnd {
 public:
  using Read = TransferSome;

  PipeReader() = default;
  /// `name`: how errors call it; not copied.
  explicit PipeReader(Descriptor descriptor, const char* name = "a pipe") noexcept
      : PipeEnd(std::move(descriptor), name) {}

  /// `co_await reader.read(span)`: some bytes. Returns: how many; 0 when all writers are gone, or for an empty span.
  [[nodiscard]] Read read(std::span<std::byte> bytes,
                          std::source_location where = std::source_location::current());
  /// See StreamSocket.
  [[nodiscard]] Task<std::size_t> read_exactly(std::span<std::byte> bytes);
};

/// The end of a pipe that is written, or standard output. A ByteSink.
///
/// Errors: std::errc::broken_pipe when no reader is left; SIGPIPE is never raised.
class PipeWriter : public PipeEnd {
 public:
  using Write = TransferSome;
  using WriteAll = TransferAll;

  PipeWriter() = default;
  explicit PipeWriter(Descriptor descriptor, const char* name = "a pipe") noexcept
      : PipeEnd(std::move(descriptor), name) {}

  /// `co_await writer.write(span)`: some of the bytes. Returns: how many.
  [[nodiscard]] Write write(std::span<const std::byte> bytes,
                            std::source_location where = std::source_location::current());
  /// `co_await writer.write_all(span)`. Returns: the span's size. Errors: the text says how much was written.
  [[nodiscard]] WriteAll write_all(std::span<const std::byte> bytes,
                                   std::source_location where = std::source_location::current());
};

struct PipeEnds {
  PipeReader reader;
  PipeWriter writer;
};

/// A new pipe, close-on-exec. Throws: std::system_error.
[[nodiscard]] PipeEnds pipe();

/// What the process was started with. They are never closed, and their flags, which other processes share, never
/// changed: one that somebody else has made non-blocking is waited for all the same.
[[nodiscard]] PipeReader standard_input();
[[nodiscard]] PipeWriter standard_output();
[[nodiscard]] PipeWriter standard_error();

}  // namespace bide
