#pragma once

#include <bide/executor/io/address.hpp>
#include <bide/executor/io/descriptor.hpp>

namespace bide {

// The plain calls behind the sockets. `what` begins the text of an error: "listen on".

/// A new socket, close-on-exec, that blocks. `type`: SOCK_*. Throws: std::system_error.
Descriptor open_socket(const Address& address, int type, const char* what);
void set_socket_option(const Descriptor& socket, int level, int option, int value, const Address& address,
                       const char* what);
void bind_socket(const Descriptor& socket, const Address& address, const char* what);
void listen_on(const Descriptor& socket, int backlog, const Address& address);

/// Throws: std::system_error.
Address local_address_of(const Descriptor& socket, const Address& address);
/// Of Family::none if it has none any more, or if it never had a name.
Address peer_of(const Descriptor& socket) noexcept;

}  // namespace bide
