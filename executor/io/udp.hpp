#pragma once

#include <optional>

#include <bide/executor/io/datagram_socket.hpp>

namespace bide {

struct UdpOptions {
  StreamSocket::Setting reuse_address = StreamSocket::Setting::off;
  /// Several sockets share the port, and the kernel spreads the datagrams.
  StreamSocket::Setting reuse_port = StreamSocket::Setting::off;
  /// Unset: as the system has it.
  std::optional<StreamSocket::Setting> ipv6_only{};
};

/// A UDP socket. Datagrams may be lost, doubled and reordered.
///
///     UdpSocket socket = UdpSocket::bind(Address::loopback(0));
///     const ReceivedDatagram datagram = co_await socket.recv_from(buffer);
class UdpSocket : public DatagramSocket {
 public:
  /// A plain call. Port 0: the kernel chooses one. Throws: std::system_error.
  [[nodiscard]] static UdpSocket bind(const Address& address, const UdpOptions& options = {});

  /// Not open: every operation fails with std::errc::bad_file_descriptor.
  UdpSocket() = default;

  /// Throws: std::system_error.
  void set_broadcast(Setting setting);
  /// How many routers a datagram may pass.
  void set_ttl(int hops);

 private:
  using DatagramSocket::DatagramSocket;
};

}  // namespace bide
