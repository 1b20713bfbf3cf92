#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <bide/executor/io/file.hpp>
#include <bide/executor/io/io_error.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// A file as a Stream (executor/io/stream.hpp), with a place of its own that moves on: for a BufferedReader, and all that
/// reads or writes from begin to end. Several on one file do not disturb one another.
///
/// Requires: the file outlives it and stays in its place; one thread at a time.
class FileStream {
 public:
  explicit FileStream(File& file, std::uint64_t offset = 0) noexcept : file_(file), offset_(offset) {}

  /// See File::read_at and File::write_at.
  [[nodiscard]] Task<std::size_t> read(std::span<std::byte> bytes) {
    const std::size_t came = co_await file_.read_at(offset_, bytes);
    offset_ += came;
    co_return came;
  }
  [[nodiscard]] Task<std::size_t> write(std::span<const std::byte> bytes) {
    const std::size_t written = co_await file_.write_at(offset_, bytes);
    offset_ += written;
    co_return written;
  }

  std::uint64_t offset() const { return offset_; }
  std::string name() const { return escaped(file_.path()); }

 private:
  File& file_;
  std::uint64_t offset_;
};

}  // namespace bide
