#pragma once

#include <sys/socket.h>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include <bide/executor/io/address.hpp>
#include <bide/executor/io/descriptor.hpp>
#include <bide/executor/io/stream_socket.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// What `recv_from` says of a datagram.
struct ReceivedDatagram {
  std::size_t size = 0;  // bytes in the span; 0 for an empty datagram
  Address from{};
  bool truncated = false;  // the rest of it did not fit, and is gone
};

/// For `send_batch`. Without a `to`: to the peer that the socket is connected to.
struct OutgoingDatagram {
  std::span<const std::byte> bytes{};
  Address to{};
};

/// For `recv_batch`: what to receive into, and what came.
struct IncomingDatagram {
  std::span<std::byte> room{};
  ReceivedDatagram received{};
};

/// A datagram socket: what UdpSocket and UnixDatagram have in common. A datagram is sent and received whole.
///
/// Cancel, moves, destruction and errors as for StreamSocket.
class DatagramSocket {
 public:
  class SendTo;
  class RecvFrom;
  using Setting = StreamSocket::Setting;

  /// `co_await socket.send_to(bytes, address)`. Suspends: always; until there is room to send. Cancellation point.
  /// Returns: how many bytes, which is all. `send`: to the peer that it is connected to.
  [[nodiscard]] SendTo send_to(std::span<const std::byte> bytes, const Address& to,
                               std::source_location where = std::source_location::current());
  [[nodiscard]] SendTo send(std::span<const std::byte> bytes,
                            std::source_location where = std::source_location::current());

  /// `co_await socket.recv_from(span)`: one datagram. Suspends: always. Cancellation point.
  /// Returns: ReceivedDatagram.
  [[nodiscard]] RecvFrom recv_from(std::span<std::byte> bytes,
                                   std::source_location where = std::source_location::current());

  /// `co_await socket.send_batch(datagrams)`: all, in order, with one system call for many where they need not wait.
  /// Returns: their number. Errors: those before the one that failed are sent.
  [[nodiscard]] Task<std::size_t> send_batch(std::span<const OutgoingDatagram> datagrams);
  /// `co_await socket.recv_batch(datagrams)`: waits for one, and takes those that are there behind it.
  /// Returns: how many came, at least one unless the span is empty.
  [[nodiscard]] Task<std::size_t> recv_batch(std::span<IncomingDatagram> datagrams);

  /// From now on it sends to that peer by itself, and receives only from it. A plain call. Throws: std::system_error.
  void connect(const Address& peer);

  /// Throws: std::system_error.
  Address local_address() const;
  void set_send_buffer_bytes(int bytes);
  void set_receive_buffer_bytes(int bytes);

  /// `co_await socket.close()`: see CloseDescriptor.
  [[nodiscard]] CloseDescriptor close(std::source_location where = std::source_location::current());
  bool is_open() const { return descriptor_.open(); }
  int number() const { return descriptor_.number(); }

 protected:
  DatagramSocket() = default;
  DatagramSocket(Descriptor descriptor, const Address& name) noexcept
      : descriptor_(std::move(descriptor)), name_(name) {}

  Descriptor descriptor_;
  Address name_;  // how errors call it: its own address, or its peer once connected
};

/// The wait for a datagram to be sent.
class [[nodiscard]] DatagramSocket::SendTo final : public DescriptorWait {
 public:
  SendTo(DatagramSocket& socket, std::span<const std::byte> bytes, const Address& to,
         std::source_location where)
      : DescriptorWait(Kind::send_message, "send to", socket.descriptor_,
                       socket_name(to.family() == Address::Family::none ? socket.name_ : to_), where),
        to_(to),
        part_{const_cast<std::byte*>(bytes.data()), bytes.size()} {}  // NOLINT: a send leaves it alone

  bool await_ready() { return enter_on(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin_send(frame.promise());
  }
  std::size_t await_resume() const { return static_cast<std::size_t>(end_or_throw()); }

 private:
  void begin_send(Frame& frame);

  Address to_;
  iovec part_;
  msghdr message_{};
};

/// The wait for a datagram.
class [[nodiscard]] DatagramSocket::RecvFrom final : public DescriptorWait {
 public:
  RecvFrom(DatagramSocket& socket, std::span<std::byte> bytes, std::source_location where)
      : DescriptorWait(Kind::receive_message, "receive on", socket.descriptor_, socket_name(socket.name_),
                       where),
        part_{bytes.data(), bytes.size()} {}

  bool await_ready() { return enter_on(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin_receive(frame.promise());
  }
  ReceivedDatagram await_resume() const;

 private:
  void begin_receive(Frame& frame);

  iovec part_;
  msghdr message_{};
  sockaddr_storage from_;
};

}  // namespace bide
