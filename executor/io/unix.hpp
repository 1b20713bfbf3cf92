#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

#include <bide/executor/io/connecting.hpp>
#include <bide/executor/io/datagram_socket.hpp>
#include <bide/executor/io/stream_listener.hpp>
#include <bide/executor/io/stream_socket.hpp>

namespace bide {

/// A connection within the machine.
class UnixStream : public StreamSocket {
 public:
  using Connect = Connecting<UnixStream>;

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
  friend class AcceptStream<UnixStream>;
  friend class Connecting<UnixStream>;
  using StreamSocket::StreamSocket;

  /// A client has no name as a rule: errors call the connection by the listener's.
  static UnixStream accepted(Descriptor connection, const Address& listener) {
    return UnixStream(std::move(connection), listener);
  }
  void set_up();
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
class UnixListener : public StreamListener {
 public:
  using Accept = AcceptStream<UnixStream>;

  /// A plain call. Throws: std::system_error.
  [[nodiscard]] static UnixListener bind(const Address& address, const UnixListenOptions& options = {});

  /// `co_await listener.accept()`: a UnixStream. See TcpListener::accept.
  [[nodiscard]] Accept accept(std::source_location where = std::source_location::current());

  /// As StreamListener's. The path goes first, at the call.
  [[nodiscard]] CloseDescriptor close(std::source_location where = std::source_location::current());

 private:
  UnixListener(Descriptor descriptor, const Address& address, AcceptExhausted exhausted, BoundPath path)
      : StreamListener(std::move(descriptor), address, exhausted), path_(std::move(path)) {}

  BoundPath path_;
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
