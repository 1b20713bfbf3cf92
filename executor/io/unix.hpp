#pragma once

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

#include <bide/executor/io/accepting.hpp>
#include <bide/executor/io/datagram_socket.hpp>
#include <bide/executor/io/stream_socket.hpp>

namespace bide {

/// A connection within the machine.
class UnixStream : public StreamSocket {
 public:
  class Connect;

  /// `co_await UnixStream::connect(Address::unix_path("/run/a"))`: a UnixStream.
  ///
  /// Suspends: until the listener has room. Cancellation point; a connection made in the instant of the cancel is
  /// delivered. Throws: Cancelled; std::system_error.
  [[nodiscard]] static Connect connect(const Address& address,
                                       std::source_location where = std::source_location::current());
  /// Two that are connected. A plain call. Throws: std::system_error.
  [[nodiscard]] static std::pair<UnixStream, UnixStream> pair();

  /// Not connected: every operation fails with std::errc::bad_file_descriptor.
  UnixStream() = default;

 private:
  friend class UnixListener;
  using StreamSocket::StreamSocket;
};

/// The wait for a connection to be made.
class [[nodiscard]] UnixStream::Connect final : public DescriptorWait {
 public:
  Connect(const Address& address, std::source_location where)
      : DescriptorWait(Kind::connect, "connect to", stream_.descriptor_, socket_name(address_), where),
        address_(address) {}

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    memory = const_cast<sockaddr*>(address_.data());  // NOLINT: connect leaves it alone
    length = address_.size();
    begin_on(frame.promise());
  }
  UnixStream await_resume();

 private:
  Address address_;
  UnixStream stream_;
};

/// The path that a bind has made: removed with this, if it is still the same file.
class BoundPath {
 public:
  BoundPath() = default;
  /// Requires: a socket was bound there just now. Owns nothing for an abstract name.
  explicit BoundPath(const Address& address);
  BoundPath(BoundPath&& other) noexcept { *this = std::move(other); }
  BoundPath& operator=(BoundPath&& other) noexcept;
  ~BoundPath() { remove(); }

  void remove() noexcept;

 private:
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

struct UnixListenOptions {
  int backlog = 4096;
  enum class Stale : std::uint8_t { refuse, remove };
  /// What to do about a path that a listener which is gone has left behind. One that lives is never touched.
  Stale stale_path = Stale::refuse;
  /// Told when descriptors or memory run out; nullptr: nobody.
  AcceptExhausted exhausted = print_accept_exhausted;
};

/// Takes connections within the machine. Removes the path that it has made when it is closed or destroyed.
///
/// Else as TcpListener.
class UnixListener {
 public:
  class Accept;

  /// A plain call. Throws: std::system_error.
  [[nodiscard]] static UnixListener bind(const Address& address, const UnixListenOptions& options = {});

  /// `co_await listener.accept()`: a UnixStream. See TcpListener::accept.
  [[nodiscard]] Accept accept(std::source_location where = std::source_location::current());

  const Address& local_address() const { return address_; }
  ListenerStatistics statistics() const;

  /// `co_await listener.close()`: see CloseDescriptor. The path goes first, at the call.
  [[nodiscard]] CloseDescriptor close(std::source_location where = std::source_location::current());
  bool is_open() const { return descriptor_.open(); }
  int number() const { return descriptor_.number(); }

 private:
  UnixListener(Descriptor descriptor, const Address& address, AcceptExhausted exhausted);

  Descriptor descriptor_;
  Address address_;
  BoundPath path_;
};

/// The wait for a connection.
class [[nodiscard]] UnixListener::Accept final : public AcceptWait {
 public:
  Accept(Descriptor& on, const Address& listener, std::source_location where)
      : AcceptWait(on, listener, where) {}
  UnixStream await_resume();
};

/// Datagrams within the machine: none is lost, and they keep their order.
class UnixDatagram : public DatagramSocket {
 public:
  /// A plain call. Removes the path that it has made when it is destroyed. Throws: std::system_error.
  [[nodiscard]] static UnixDatagram bind(
      const Address& address, UnixListenOptions::Stale stale_path = UnixListenOptions::Stale::refuse);
  /// One that only sends, and nobody can answer to.
  [[nodiscard]] static UnixDatagram unbound();

  /// Not open: every operation fails with std::errc::bad_file_descriptor.
  UnixDatagram() = default;

 private:
  using DatagramSocket::DatagramSocket;

  BoundPath path_;
};

inline UnixStream::Connect UnixStream::connect(const Address& address, std::source_location where) {
  return Connect(address, where);
}
inline UnixListener::Accept UnixListener::accept(std::source_location where) {
  return Accept(descriptor_, address_, where);
}

}  // namespace bide
