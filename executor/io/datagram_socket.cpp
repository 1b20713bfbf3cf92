#include <bide/executor/io/datagram_socket.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/socket_calls.hpp>

namespace bide {

namespace {

constexpr std::size_t most_a_call = 32;

void address_to(msghdr& message, const Address& to) {
  const bool connected = to.family() == Address::Family::none;
  message.msg_name =
      connected ? nullptr : const_cast<sockaddr*>(to.data());  // NOLINT: a send leaves it alone
  message.msg_namelen = connected ? 0 : to.size();
}

ReceivedDatagram received(const msghdr& message, std::size_t size) {
  return {.size = size,
          .from = Address::from(message.msg_name, message.msg_namelen),
          .truncated = (message.msg_flags & MSG_TRUNC) != 0};
}

// How many were sent without waiting, or a negative errno: the kernel tells an error of the peer's once.
std::int64_t send_now(int socket, std::span<const OutgoingDatagram> datagrams) {
  std::array<mmsghdr, most_a_call> messages{};
  std::array<iovec, most_a_call> parts;
  const std::size_t count = std::min(datagrams.size(), most_a_call);
  for (std::size_t at = 0; at < count; ++at) {
    parts[at] = {const_cast<std::byte*>(datagrams[at].bytes.data()), datagrams[at].bytes.size()};  // NOLINT
    messages[at].msg_hdr.msg_iov = &parts[at];
    messages[at].msg_hdr.msg_iovlen = 1;
    address_to(messages[at].msg_hdr, datagrams[at].to);
  }
  const int sent =
      ::sendmmsg(socket, messages.data(), static_cast<unsigned>(count), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0) return sent;
  return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -errno;  // an await waits for those
}

std::size_t receive_now(int socket, std::span<IncomingDatagram> datagrams) {
  std::array<mmsghdr, most_a_call> messages{};
  std::array<iovec, most_a_call> parts;
  std::array<sockaddr_storage, most_a_call> from;
  const std::size_t count = std::min(datagrams.size(), most_a_call);
  for (std::size_t at = 0; at < count; ++at) {
    parts[at] = {datagrams[at].room.data(), datagrams[at].room.size()};
    messages[at].msg_hdr.msg_iov = &parts[at];
    messages[at].msg_hdr.msg_iovlen = 1;
    messages[at].msg_hdr.msg_name = &from[at];
    messages[at].msg_hdr.msg_namelen = sizeof from[at];
  }
  const int came = ::recvmmsg(socket, messages.data(), static_cast<unsigned>(count), MSG_DONTWAIT, nullptr);
  for (int at = 0; at < came; ++at) {
    const mmsghdr& message = messages[static_cast<std::size_t>(at)];
    datagrams[static_cast<std::size_t>(at)].received = received(message.msg_hdr, message.msg_len);
  }
  return came > 0 ? static_cast<std::size_t>(came) : 0;
}

}  // namespace

DatagramSocket::SendTo DatagramSocket::send_to(std::span<const std::byte> bytes, const Address& to,
                                               std::source_location where) {
  return SendTo(*this, bytes, to, where);
}
DatagramSocket::SendTo DatagramSocket::send(std::span<const std::byte> bytes, std::source_location where) {
  return SendTo(*this, bytes, Address(), where);
}
DatagramSocket::RecvFrom DatagramSocket::recv_from(std::span<std::byte> bytes, std::source_location where) {
  return RecvFrom(*this, bytes, where);
}

Task<std::size_t> DatagramSocket::send_batch(std::span<const OutgoingDatagram> datagrams) {
  std::size_t sent = 0;
  while (sent < datagrams.size()) {
    const OutgoingDatagram& next = datagrams[sent];
    co_await send_to(next.bytes, next.to);
    ++sent;
    while (sent < datagrams.size()) {
      const std::int64_t more = send_now(number(), datagrams.subspan(sent));
      if (more < 0) {
        const Address& to = datagrams[sent].to;
        throw_io_error(more, socket_call("send to", to.family() == Address::Family::none ? name_ : to));
      }
      if (more == 0) break;
      sent += static_cast<std::size_t>(more);
    }
  }
  co_return sent;
}

Task<std::size_t> DatagramSocket::recv_batch(std::span<IncomingDatagram> datagrams) {
  if (datagrams.empty()) co_return 0;
  datagrams[0].received = co_await recv_from(datagrams[0].room);
  std::size_t came = 1;
  for (std::size_t more = 1; more > 0 && came < datagrams.size(); came += more) {
    more = receive_now(number(), datagrams.subspan(came));
  }
  co_return came;
}

void DatagramSocket::connect(const Address& peer) {
  if (::connect(number(), peer.data(), peer.size()) != 0)
    throw_io_error(errno, socket_call("connect to", peer));
  name_ = peer;
}

Address DatagramSocket::local_address() const { return local_address_of(descriptor_, name_); }
void DatagramSocket::set_send_buffer_bytes(int bytes) {
  set_socket_option(descriptor_, SOL_SOCKET, SO_SNDBUF, bytes, name_, "set the send buffer of");
}
void DatagramSocket::set_receive_buffer_bytes(int bytes) {
  set_socket_option(descriptor_, SOL_SOCKET, SO_RCVBUF, bytes, name_, "set the receive buffer of");
}

CloseDescriptor DatagramSocket::close(std::source_location where) {
  return CloseDescriptor(descriptor_, socket_name(name_), where);
}

void DatagramSocket::SendTo::begin_send(Frame& frame) {
  message_.msg_iov = &part_;
  message_.msg_iovlen = 1;
  address_to(message_, to_);
  memory = &message_;
  begin_on(frame);
}

void DatagramSocket::RecvFrom::begin_receive(Frame& frame) {
  message_.msg_iov = &part_;
  message_.msg_iovlen = 1;
  message_.msg_name = &from_;
  message_.msg_namelen = sizeof from_;
  memory = &message_;
  begin_on(frame);
}

ReceivedDatagram DatagramSocket::RecvFrom::await_resume() const {
  const auto bytes = static_cast<std::size_t>(end_or_throw());
  return received(message_, bytes);
}

}  // namespace bide
