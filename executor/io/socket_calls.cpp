#include <bide/executor/io/socket_calls.hpp>

#include <sys/socket.h>
#include <cerrno>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/stream_socket.hpp>

namespace bide {

namespace {

void check(int result, const char* what, const Address& address) {
  if (result < 0) throw_io_error(errno, socket_call(what, address));
}

}  // namespace

Descriptor open_socket(const Address& address, int type, const char* what) {
  const int number = ::socket(address.data()->sa_family, type | SOCK_CLOEXEC, 0);
  check(number, what, address);
  return Descriptor(number);
}

void set_socket_option(const Descriptor& socket, int level, int option, int value, const Address& address,
                       const char* what) {
  check(::setsockopt(socket.number(), level, option, &value, sizeof value), what, address);
}

void bind_socket(const Descriptor& socket, const Address& address, const char* what) {
  check(::bind(socket.number(), address.data(), address.size()), what, address);
}

void listen_on(const Descriptor& socket, int backlog, const Address& address) {
  check(::listen(socket.number(), backlog), "listen on", address);
}

Address local_address_of(const Descriptor& socket, const Address& address) {
  sockaddr_storage raw;
  socklen_t bytes = sizeof raw;
  check(::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&raw), &bytes), "local address of",
        address);
  return Address::from(&raw, bytes);
}

Address peer_of(const Descriptor& socket) noexcept {
  sockaddr_storage raw;
  socklen_t bytes = sizeof raw;
  if (::getpeername(socket.number(), reinterpret_cast<sockaddr*>(&raw), &bytes) != 0) return Address();
  return Address::from(&raw, bytes);
}

}  // namespace bide
