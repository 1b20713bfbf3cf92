#pragma once

#include <concepts>
#include <coroutine>
#include <source_location>
#include <system_error>
#include <utility>

#include <bide/executor/io/stream_socket.hpp>

namespace bide {

/// The wait for a connection to be made: of a TcpStream, a UnixStream.
///
/// The socket is made at once by `Stream::set_up`, so that what it takes needs no place in the awaiting frame; its error
/// shows at the await.
template <class Stream>
class [[nodiscard]] Connecting final : public DescriptorWait {
 public:
  template <class... Options>
  Connecting(const Address& address, std::source_location where, const Options&... options)
      : DescriptorWait(Kind::connect, "connect to", stream_.descriptor_, socket_name(stream_.name_), where) {
    stream_.name_ = address;
    try {
      stream_.set_up(options...);
    } catch (const std::system_error& error) {
      result = -error.code().value();
    }
  }

  bool await_ready() { return enter() || result < 0; }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    memory = const_cast<sockaddr*>(stream_.name_.data());  // NOLINT: connect leaves it alone
    length = stream_.name_.size();
    begin_on(frame.promise());
  }
  Stream await_resume() {
    static_cast<void>(end_or_throw());
    return std::move(stream_);
  }

 private:
  Stream stream_;
};

}  // namespace bide
