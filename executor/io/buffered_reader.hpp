#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/stream.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// Reads lines, frames and other pieces from a stream, in whatever pieces that comes.
///
///     BufferedReader reader(stream);
///     while (auto line = co_await reader.read_line()) use(*line);
///
/// Memory:  one buffer of `capacity` bytes. A piece that does not fit is an error whose text names the limit, and it is
///          left in the stream's way: what follows can't be read, so close the stream.
/// Results: point into the buffer, until the next call.
/// Cancel:  loses nothing: the next call goes on with what had come.
/// Throws:  Cancelled; std::system_error of the stream; IoError.
/// Requires: the stream outlives it and stays in its place; one thread at a time; nobody else reads the stream.
template <ByteSource S>
class BufferedReader {
 public:
  static constexpr std::size_t default_capacity = std::size_t{16} << 10U;
  static constexpr std::size_t frame_head_bytes = 4;

  explicit BufferedReader(S& source, std::size_t capacity = default_capacity)
      : source_(source), buffer_(capacity) {
    require(capacity >= frame_head_bytes, "a BufferedReader of less than four bytes");
  }

  /// `co_await reader.read_line(limit)`: a line without its "\n" or "\r\n"; nullopt at the end of the stream. The last
  /// line may lack its end: `ended_early` says so. `limit`: bytes of the longest line; at most the capacity less two.
  [[nodiscard]] Task<std::optional<std::string_view>> read_line(std::size_t limit = SIZE_MAX) {
    limit = std::min(limit, buffer_.size() - 2);
    const Limit named{IoError::line_too_long, "a line", limit};
    std::optional<std::string_view> line = co_await up_to("\n", limit + 1, named);
    if (!line.has_value()) co_return line;
    if (!ended_early_ && line->ends_with('\r')) line->remove_suffix(1);
    if (line->size() > limit) throw_too_long(named);
    co_return line;
  }

  /// `co_await reader.read_until(delimiter, limit)`: what comes before the delimiter, which is passed over; else as
  /// read_line. Requires: the delimiter is not empty.
  [[nodiscard]] Task<std::optional<std::string_view>> read_until(std::string_view delimiter,
                                                                 std::size_t limit = SIZE_MAX) {
    require(!delimiter.empty() && delimiter.size() < buffer_.size(),
            "read_until an empty or too long delimiter");
    limit = std::min(limit, buffer_.size() - delimiter.size());
    return up_to(delimiter, limit, {IoError::line_too_long, "a piece", limit});
  }

  /// `co_await reader.read_frame(limit)`: a frame: its length in four bytes, the most significant first, then so many
  /// bytes. nullopt at the end of the stream; an end inside a frame is IoError::end_of_stream.
  /// `limit`: bytes of the longest frame; at most the capacity less four.
  [[nodiscard]] Task<std::optional<std::span<const std::byte>>> read_frame(std::size_t limit = SIZE_MAX) {
    limit = std::min(limit, buffer_.size() - frame_head_bytes);
    const std::size_t head = co_await fill(frame_head_bytes);
    if (head == 0) co_return std::nullopt;
    if (head < frame_head_bytes) throw_cut();
    const std::size_t bytes = frame_length();
    if (bytes > limit) throw_too_long({IoError::frame_too_long, "a frame", limit});
    const std::size_t there = co_await fill(frame_head_bytes + bytes);
    if (there < frame_head_bytes + bytes) throw_cut();
    co_return take(frame_head_bytes + bytes).subspan(frame_head_bytes);
  }

  /// `co_await reader.read(span)`: some bytes, those that are buffered first: a reader is a ByteSource itself.
  [[nodiscard]] Task<std::size_t> read(std::span<std::byte> into) {
    if (begin_ == end_) {
      const std::size_t came = co_await source_.read(into);
      co_return came;
    }
    const std::size_t bytes = std::min(into.size(), end_ - begin_);
    std::memcpy(into.data(), take(bytes).data(), bytes);
    co_return bytes;
  }

  /// The latest piece ended with the stream, and not with its delimiter.
  bool ended_early() const { return ended_early_; }
  /// Bytes that have come and were not read yet.
  std::size_t buffered() const { return end_ - begin_; }

 private:
  struct Limit {
    IoError error;
    const char* piece;
    std::size_t bytes;
  };

  Task<std::optional<std::string_view>> up_to(std::string_view delimiter, std::size_t limit, Limit named) {
    ended_early_ = false;
    std::size_t searched = 0;  // of what is buffered, without a delimiter
    for (;;) {
      const std::string_view text = text_of(there());
      const std::size_t found = text.find(delimiter, searched);
      if (found != text.npos && found <= limit) {
        const std::string_view piece = text_of(take(found + delimiter.size()));
        co_return piece.substr(0, found);
      }
      if (found != text.npos || text.size() >= limit + delimiter.size()) throw_too_long(named);
      searched = text.size() < delimiter.size() ? 0 : text.size() - delimiter.size() + 1;
      const std::size_t came = co_await read_more();
      if (came == 0) break;
    }
    if (begin_ == end_) co_return std::nullopt;
    if (end_ - begin_ > limit) throw_too_long(named);
    ended_early_ = true;
    co_return text_of(take(end_ - begin_));
  }

  // Until so many bytes are there, or the stream ends. Returns: how many are there, at most those.
  Task<std::size_t> fill(std::size_t bytes) {
    while (end_ - begin_ < bytes) {
      const std::size_t came = co_await read_more();
      if (came == 0) break;
    }
    co_return std::min(end_ - begin_, bytes);
  }

  Task<std::size_t> read_more() {
    if (end_ == buffer_.size()) {  // make room: a piece never needs more than all of it
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    const std::size_t came = co_await source_.read(std::span(buffer_).subspan(end_));
    end_ += came;
    co_return came;
  }

  std::span<const std::byte> there() const { return std::span(buffer_).subspan(begin_, end_ - begin_); }
  std::span<const std::byte> take(std::size_t bytes) {
    const std::span<const std::byte> taken = there().first(bytes);
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
    return taken;
  }
  std::size_t frame_length() const {
    std::size_t length = 0;
    for (const std::byte byte : there().first(frame_head_bytes))
      length = length << 8U | std::to_integer<std::size_t>(byte);
    return length;
  }

  [[noreturn]] void throw_cut() const {
    throw_io_error(IoError::end_of_stream, "read a frame" + named("from", source_));
  }
  [[noreturn]] void throw_too_long(const Limit& limit) const {
    throw_io_error(limit.error, std::string("read ") + limit.piece + " of at most " +
                                    std::to_string(limit.bytes) + " bytes" + named("from", source_));
  }

  S& source_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_early_ = false;
};

/// The head of a frame of so many bytes, as `read_frame` reads it.
inline std::array<std::byte, 4> frame_head(std::uint32_t bytes) {
  return {static_cast<std::byte>(bytes >> 24U), static_cast<std::byte>(bytes >> 16U),
          static_cast<std::byte>(bytes >> 8U), static_cast<std::byte>(bytes)};
}

}  // namespace bide
