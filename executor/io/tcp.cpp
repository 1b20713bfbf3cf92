#include <bide/executor/io/tcp.hpp>

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <algorithm>
#include <cerrno>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/socket_calls.hpp>

namespace bide {

namespace {

int whole_seconds(Duration duration) {
  return static_cast<int>(std::clamp<std::int64_t>(duration / std::chrono::seconds(1), 1, 32767));
}

int value_of(StreamSocket::Setting setting) { return setting == StreamSocket::Setting::on ? 1 : 0; }

}  // namespace

TcpStream::TcpStream(Descriptor descriptor) {
  const Address peer = peer_of(descriptor);
  descriptor_ = std::move(descriptor);
  name_ = peer;
}

void TcpStream::set_no_delay(Setting setting) {
  set_option(IPPROTO_TCP, TCP_NODELAY, value_of(setting), "set TCP_NODELAY of");
}

void TcpStream::set_keepalive(const std::optional<Keepalive>& keepalive) {
  constexpr const char* what = "set keepalive of";
  set_option(SOL_SOCKET, SO_KEEPALIVE, keepalive ? 1 : 0, what);
  if (!keepalive) return;
  set_option(IPPROTO_TCP, TCP_KEEPIDLE, whole_seconds(keepalive->idle), what);
  set_option(IPPROTO_TCP, TCP_KEEPINTVL, whole_seconds(keepalive->interval), what);
  set_option(IPPROTO_TCP, TCP_KEEPCNT, std::clamp(keepalive->probes, 1, 127), what);
}

void TcpStream::set_linger(const std::optional<Duration>& linger) {
  ::linger value{};
  value.l_onoff = linger ? 1 : 0;
  if (linger && *linger > Duration::zero()) value.l_linger = whole_seconds(*linger);
  if (::setsockopt(number(), SOL_SOCKET, SO_LINGER, &value, sizeof value) != 0)
    throw_io_error(errno, socket_call("set linger of", name_));
}

void TcpStream::set_up(const ConnectOptions& options) {
  constexpr const char* what = "connect to";
  descriptor_ = open_socket(name_, SOCK_STREAM, what);
  if (options.no_delay == Setting::on) set_option(IPPROTO_TCP, TCP_NODELAY, 1, what);
  if (options.keepalive) set_keepalive(options.keepalive);
  if (options.send_buffer_bytes > 0) set_send_buffer_bytes(options.send_buffer_bytes);
  if (options.receive_buffer_bytes > 0) set_receive_buffer_bytes(options.receive_buffer_bytes);
  if (options.from) bind_socket(descriptor_, *options.from, "connect from");
}

TcpStream TcpStream::accepted(Descriptor connection, const Address& /*listener*/) {
  return TcpStream(std::move(connection));
}

TcpListener TcpListener::bind(const Address& address, const ListenOptions& options) {
  constexpr const char* what = "listen on";
  Descriptor socket = open_socket(address, SOCK_STREAM, what);
  const auto set = [&](int level, int option, StreamSocket::Setting setting) {
    set_socket_option(socket, level, option, value_of(setting), address, what);
  };
  if (address.family() == Address::Family::ipv4 || address.family() == Address::Family::ipv6) {
    set(SOL_SOCKET, SO_REUSEADDR, options.reuse_address);
    set(SOL_SOCKET, SO_REUSEPORT, options.reuse_port);
    set(IPPROTO_TCP, TCP_NODELAY, options.no_delay);  // which its connections inherit
  }
  if (options.ipv6_only) set(IPPROTO_IPV6, IPV6_V6ONLY, *options.ipv6_only);
  bind_socket(socket, address, what);
  listen_on(socket, options.backlog, address);
  const Address bound = local_address_of(socket, address);
  return TcpListener(std::move(socket), bound, options.exhausted);
}

}  // namespace bide
