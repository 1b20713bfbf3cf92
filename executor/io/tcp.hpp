#pragma once

#include <optional>
#include <source_location>
#include <string>

#include <bide/executor/io/connecting.hpp>
#include <bide/executor/io/stream_listener.hpp>
#include <bide/executor/io/stream_socket.hpp>

namespace bide {

/// When the kernel asks a silent peer whether it lives. Units: whole seconds, at least one.
struct Keepalive {
  Duration idle = std::chrono::seconds(60);
  Duration interval = std::chrono::seconds(10);
  int probes = 6;
};

/// Trivially destructible.
struct ConnectOptions {
  /// Where the connection comes from; port 0: any. Unset: as the kernel chooses.
  std::optional<Address> from{};
  /// Small writes go out at once, and do not wait for the answer to earlier ones (TCP_NODELAY).
  StreamSocket::Setting no_delay = StreamSocket::Setting::on;
  std::optional<Keepalive> keepalive{};
  /// Bytes of the kernel's buffers; 0: as the system has it.
  int send_buffer_bytes = 0;
  int receive_buffer_bytes = 0;
};

/// An object of its own, so that the default takes no place in the frame of who connects.
inline const ConnectOptions default_connect_options{};

/// A TCP connection. TCP_NODELAY is on unless it is switched off: a request that is written in one piece is not held
/// back. Write larger pieces rather than many small ones.
class TcpStream : public StreamSocket {
 public:
  using Connect = Connecting<TcpStream>;

  /// `co_await TcpStream::connect(address)`: a TcpStream.
  ///
  /// Suspends: until the peer has answered. Cancellation point; a connection made in the instant of the cancel is
  /// delivered. Without a `timeout` around it the kernel gives up after about two minutes.
  /// Throws: Cancelled; std::system_error: "connect to 127.0.0.1:9: Connection refused".
  [[nodiscard]] static Connect connect(const Address& address,
                                       const ConnectOptions& options = default_connect_options,
                                       std::source_location where = std::source_location::current());

  /// Not connected: every operation fails with std::errc::bad_file_descriptor.
  TcpStream() = default;
  /// Takes over a connected descriptor, as from another library. Owns it. Requires: a TCP socket that blocks.
  explicit TcpStream(Descriptor descriptor);

  /// Throws: std::system_error.
  void set_no_delay(Setting setting);
  void set_keepalive(const std::optional<Keepalive>& keepalive);
  /// How long a close may leave unsent bytes to the kernel; zero: the peer sees a reset at once. Unset: as long as it
  /// takes. Units: whole seconds. Blocks: set and not zero, the close waits so long in the kernel, and the loop with it.
  void set_linger(const std::optional<Duration>& linger);

 private:
  friend class AcceptStream<TcpStream>;
  friend class Connecting<TcpStream>;

  static TcpStream accepted(Descriptor connection, const Address& listener);
  void set_up(const ConnectOptions& options);
};

struct ListenOptions {
  /// Connections that the kernel keeps until they are accepted; it has a limit of its own (net.core.somaxconn).
  int backlog = 4096;
  /// Binds also while connections of an earlier listener are closing (SO_REUSEADDR).
  StreamSocket::Setting reuse_address = StreamSocket::Setting::on;
  /// Several listeners share the port, and the kernel spreads the connections (SO_REUSEPORT).
  StreamSocket::Setting reuse_port = StreamSocket::Setting::off;
  /// An IPv6 listener takes no IPv4 connections (IPV6_V6ONLY). Unset: as the system has it.
  std::optional<StreamSocket::Setting> ipv6_only{};
  /// Of the connections.
  StreamSocket::Setting no_delay = StreamSocket::Setting::on;
  /// Told when descriptors or memory run out; nullptr: nobody.
  AcceptExhausted exhausted = print_accept_exhausted;
};

/// Takes TCP connections.
///
///     TcpListener listener = TcpListener::bind(Address::loopback(0));
///     TcpStream stream = co_await listener.accept();
///
/// Exhaustion: when descriptors or memory run out, `accept` does not fail: a server should not end because it is busy.
///             It tries again every 100 ms until a connection is accepted, and tells of it once an episode
///             (ListenOptions::exhausted), by default on stderr. Connections that were gone before they were accepted
///             are passed over.
/// Destroyed, moved: see Descriptor. Connections that nobody took are closed.
class TcpListener : public StreamListener {
 public:
  using Accept = AcceptStream<TcpStream>;

  /// A plain call. Port 0: the kernel chooses one, see `local_address`. Throws: std::system_error.
  [[nodiscard]] static TcpListener bind(const Address& address, const ListenOptions& options = {});

  /// `co_await listener.accept()`: a TcpStream.
  ///
  /// Suspends: until there is a connection. Cancellation point; a connection that comes in the instant of the cancel is
  /// delivered, or kept for the next call.
  /// Order: of several threads, higher class first, then who came first; connections in the order of the kernel.
  /// Throws: Cancelled; std::system_error.
  [[nodiscard]] Accept accept(std::source_location where = std::source_location::current());

 private:
  using StreamListener::StreamListener;
};

inline TcpStream::Connect TcpStream::connect(const Address& address, const ConnectOptions& options,
                                             std::source_location where) {
  return Connect(address, where, options);
}

inline TcpListener::Accept TcpListener::accept(std::source_location where) {
  return Accept(descriptor_, address_, where);
}

}  // namespace bide
