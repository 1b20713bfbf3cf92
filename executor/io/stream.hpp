#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// What `co_await awaitable` gives in a task.
template <class Awaitable>
using ReadResult =
    decltype(std::declval<decltype(TaskPromiseBase::await_transform(std::declval<Awaitable>()))&>()
                 .await_resume());

/// Something to read bytes from: `co_await source.read(span)` gives how many came, at least one; 0 at the end, or for
/// an empty span.
template <class S>
concept ByteSource = requires(S& source, std::span<std::byte> bytes) {
  requires std::convertible_to<ReadResult<decltype(source.read(bytes))>, std::size_t>;
};

/// Something to write bytes to: `co_await sink.write(span)` gives how many were taken, at least one; 0 for an empty
/// span.
template <class S>
concept ByteSink = requires(S& sink, std::span<const std::byte> bytes) {
  requires std::convertible_to<ReadResult<decltype(sink.write(bytes))>, std::size_t>;
};

/// Both: TcpStream, UnixStream, and what wraps one, as TLS does. Algorithms for streams are written to this.
template <class S>
concept Stream = ByteSource<S> && ByteSink<S>;

/// `co_await write_all(stream, span)`: writes until all is written. Returns: the size of the span. Throws: as `write`.
template <ByteSink S>
Task<std::size_t> write_all(S& sink, std::span<const std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t written = co_await sink.write(bytes.subspan(done));
    require(written > 0, "a write of some bytes has written none");
    done += written;
  }
  co_return done;
}

/// How errors call it, with a word before: " from 127.0.0.1:80", or nothing where it has no `name()`.
template <class S>
std::string named(const char* word, const S& stream) {
  if constexpr (requires { std::string(stream.name()); }) {
    return " " + std::string(word) + " " + stream.name();
  } else {
    return std::string();
  }
}

/// `co_await read_exactly(stream, span)`: reads until the span is full. Returns: its size.
/// Throws: as `read`; IoError::end_of_stream, whose text says how much had come.
template <ByteSource S>
Task<std::size_t> read_exactly(S& source, std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t came = co_await source.read(bytes.subspan(done));
    if (came == 0) {
      throw_io_error(IoError::end_of_stream, "read " + std::to_string(bytes.size()) + " bytes" +
                                                 named("from", source) + ", of which " +
                                                 std::to_string(done) + " came");
    }
    done += came;
  }
  co_return done;
}

/// The bytes of a text, to write; a text over bytes, as they came.
inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace bide
