#include <bide/executor/io/udp.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <bide/executor/io/socket_calls.hpp>

namespace bide {

UdpSocket UdpSocket::bind(const Address& address, const UdpOptions& options) {
  constexpr const char* what = "bind";
  Descriptor socket = open_socket(address, SOCK_DGRAM, what);
  const auto set = [&](int level, int option, Setting setting) {
    set_socket_option(socket, level, option, setting == Setting::on ? 1 : 0, address, what);
  };
  if (options.reuse_address == Setting::on) set(SOL_SOCKET, SO_REUSEADDR, Setting::on);
  if (options.reuse_port == Setting::on) set(SOL_SOCKET, SO_REUSEPORT, Setting::on);
  if (options.ipv6_only) set(IPPROTO_IPV6, IPV6_V6ONLY, *options.ipv6_only);
  bind_socket(socket, address, what);
  const Address bound = local_address_of(socket, address);
  return UdpSocket(std::move(socket), bound);
}

void UdpSocket::set_broadcast(Setting setting) {
  set_socket_option(descriptor_, SOL_SOCKET, SO_BROADCAST, setting == Setting::on ? 1 : 0, name_,
                    "set broadcast of");
}

void UdpSocket::set_ttl(int hops) {
  const bool ipv6 = local_address().family() == Address::Family::ipv6;
  set_socket_option(descriptor_, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_UNICAST_HOPS : IP_TTL, hops,
                    name_, "set the time to live of");
}

}  // namespace bide
