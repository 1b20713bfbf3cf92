#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bide {

/// Where a socket is: an IPv4 or IPv6 address with its port, or a Unix socket's path or abstract name.
///
///     Address::parse("127.0.0.1:80")    Address::parse("[fe80::1%eth0]:80")
///     Address::parse("unix:/run/a")     Address::parse("unix:@abstract")
///
/// No names of hosts: `resolve` asks for those.
/// Order: by family, then by what it prints but as numbers: address, port, scope; paths by bytes.
/// Cost:  at most 128 bytes; copies only what is used, 28 bytes for IPv6. No allocation.
class Address {
 public:
  enum class Family : std::uint8_t { none, ipv4, ipv6, unix_path, unix_abstract };
  /// The longest path, or abstract name, in bytes.
  static constexpr std::size_t longest_path_bytes = sizeof(sockaddr_un::sun_path) - 1;

  /// Of Family::none, as an unbound Unix socket has; prints as "nowhere".
  Address() noexcept;
  Address(const Address& other) noexcept;
  Address& operator=(const Address& other) noexcept;

  /// Throws: std::invalid_argument, whose text shows the address, the place counted from 1, and what is wrong there.
  static Address parse(std::string_view text);
  /// nullopt where `parse` throws. `problem`: if given, gets the text.
  static std::optional<Address> try_parse(std::string_view text, std::string* problem = nullptr);

  static Address ipv4(std::array<std::uint8_t, 4> bytes, std::uint16_t port) noexcept;
  static Address ipv6(const std::array<std::uint8_t, 16>& bytes, std::uint16_t port,
                      std::uint32_t scope_id = 0) noexcept;
  /// 127.0.0.1, and ::1. Port 0: the kernel chooses one at a bind.
  static Address loopback(std::uint16_t port) noexcept;
  static Address loopback_ipv6(std::uint16_t port) noexcept;
  /// All of this machine's: 0.0.0.0, and ::.
  static Address any(std::uint16_t port) noexcept;
  static Address any_ipv6(std::uint16_t port) noexcept;

  /// Any bytes but NUL, as the file system has it. Throws: std::invalid_argument: empty, too long, or NUL.
  static Address unix_path(std::string_view path);
  /// Any bytes. Throws: std::invalid_argument: too long.
  static Address unix_abstract(std::string_view name);

  /// As system calls give it. Family::none for a family that is none of ours.
  static Address from(const void* raw, std::size_t bytes) noexcept;

  Family family() const noexcept;
  /// 0 for a Unix socket.
  std::uint16_t port() const noexcept;
  /// The same address with another port. Requires: IPv4 or IPv6.
  Address with_port(std::uint16_t port) const noexcept;
  std::uint32_t scope_id() const noexcept;
  /// Of a Unix socket: its path, or its name. Empty for others.
  std::string_view path() const noexcept;

  /// As `parse` reads it; a scope as a number. What a path has that can't stand in a line becomes \x and two digits.
  std::string to_string() const;
  /// Without the port and without brackets.
  std::string host() const;

  /// For system calls.
  const sockaddr* data() const noexcept { return &raw_.any; }
  socklen_t size() const noexcept { return size_; }

  friend bool operator==(const Address& a, const Address& b) noexcept { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Address& a, const Address& b) noexcept;

 private:
  union Raw {
    sockaddr any;
    sockaddr_in ipv4;
    sockaddr_in6 ipv6;
    sockaddr_un unix_socket;
  };
  static constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);

  Raw raw_;
  socklen_t size_;
};

static_assert(sizeof(Address) <= 128);

}  // namespace bide
