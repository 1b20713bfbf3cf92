#include <bide/executor/io/address.hpp>

#include <arpa/inet.h>
#include <net/if.h>
#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include <bide/executor/io/io_error.hpp>
#include <bide/queue/require.hpp>

namespace bide {

namespace {

/// Reads the text of an address; stops at the first fault, and knows where that is.
class AddressReader {
 public:
  explicit AddressReader(std::string_view text) : text_(text) {}

  std::optional<Address> read() {
    if (text_.empty()) return fail(0, "it is empty");
    if (text_.starts_with(unix_prefix)) return read_unix();
    if (text_.front() == '[') return read_ipv6();
    return read_ipv4();
  }
  std::string problem() const {
    const std::string shown = escaped(text_.substr(0, 200)) + (text_.size() > 200 ? "..." : "");
    return "address \"" + shown + "\", at " + std::to_string(place_ + 1) + ": " + problem_;
  }

 private:
  static constexpr std::string_view unix_prefix = "unix:";

  std::nullopt_t fail(std::size_t place, const char* problem) {
    place_ = place;
    problem_ = problem;
    return std::nullopt;
  }

  std::optional<Address> read_unix() {
    const std::string_view path = text_.substr(unix_prefix.size());
    if (path.empty()) return fail(text_.size(), "the path is missing");
    for (std::size_t at = 0; at < path.size(); ++at) {
      const auto byte = static_cast<unsigned char>(path[at]);
      if (byte < 0x20 || byte == 0x7F) return fail(unix_prefix.size() + at, "a control character");
    }
    if (const std::size_t end = utf8_end(path); end < path.size())
      return fail(unix_prefix.size() + end, "not UTF-8");
    const bool abstract = path.front() == '@';
    if (path.size() - (abstract ? 1 : 0) > Address::longest_path_bytes)
      return fail(unix_prefix.size() + Address::longest_path_bytes,
                  "the path is too long: 107 bytes at most");
    return abstract ? Address::unix_abstract(path.substr(1)) : Address::unix_path(path);
  }

  std::optional<Address> read_ipv4() {
    std::array<std::uint8_t, 4> bytes{};
    std::size_t at = 0;
    for (std::size_t part = 0; part < bytes.size(); ++part) {
      if (part > 0) {
        if (at >= text_.size() || text_[at] != '.') return fail(at, four_numbers);
        ++at;
      }
      const std::size_t begin = at;
      unsigned value = 0;
      while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9' && at - begin < 4) {
        value = value * 10 + static_cast<unsigned>(text_[at++] - '0');
      }
      if (at == begin) return fail(at, four_numbers);
      if (value > 255) return fail(begin, "a number above 255");
      if (at - begin > 1 && text_[begin] == '0') return fail(begin, "a number with a leading zero");
      bytes[part] = static_cast<std::uint8_t>(value);
    }
    const std::optional<std::uint16_t> port = read_port(at);
    if (!port) return std::nullopt;
    return Address::ipv4(bytes, *port);
  }

  std::optional<Address> read_ipv6() {
    const std::size_t end = text_.find(']');
    if (end == std::string_view::npos) return fail(text_.size(), "']' is missing");
    const std::size_t percent = std::min(text_.find('%'), end);
    const std::string host(text_.substr(1, percent - 1));
    if (const std::size_t wrong = host.find_first_not_of("0123456789abcdefABCDEF:."); wrong != host.npos)
      return fail(1 + wrong, "no IPv6 address has this character");
    std::array<std::uint8_t, 16> bytes{};
    if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return fail(1, "this is no IPv6 address");
    std::uint32_t scope = 0;
    if (percent < end && !read_scope(percent + 1, end, scope)) return std::nullopt;
    const std::optional<std::uint16_t> port = read_port(end + 1);
    if (!port) return std::nullopt;
    return Address::ipv6(bytes, *port, scope);
  }

  // A number, or the name of an interface of this machine.
  bool read_scope(std::size_t begin, std::size_t end, std::uint32_t& scope) {
    const std::string name(text_.substr(begin, end - begin));
    const bool number = !name.empty() && name.find_first_not_of("0123456789") == name.npos;
    if (number && name.size() <= 9) {
      scope = static_cast<std::uint32_t>(std::stoul(name));
      return true;
    }
    if (!name.empty() && name.size() < IF_NAMESIZE && name.find('\0') == name.npos)
      scope = ::if_nametoindex(name.c_str());
    if (scope == 0) fail(begin, "no interface has this name");
    return scope != 0;
  }

  // ":" and 0 to 65535, to the end of the text.
  std::optional<std::uint16_t> read_port(std::size_t at) {
    if (at >= text_.size()) return fail(at, "':' and a port are missing");
    if (text_[at] != ':') return fail(at, "':' and a port have to come here");
    const std::size_t begin = ++at;
    unsigned value = 0;
    for (; at < text_.size(); ++at) {
      if (text_[at] < '0' || text_[at] > '9') return fail(at, "a port is a decimal number");
      value = value * 10 + static_cast<unsigned>(text_[at] - '0');
      if (value > 65535) return fail(begin, "a port above 65535");
    }
    if (at == begin) return fail(at, "the port is missing");
    return static_cast<std::uint16_t>(value);
  }

  static constexpr const char* four_numbers =
      "an IPv4 address has four numbers with dots between (IPv6 has brackets, a path the prefix unix:)";

  std::string_view text_;
  std::size_t place_ = 0;
  const char* problem_ = "";
};

std::string quoted_problem(std::string_view kind, std::string_view text, std::string_view problem) {
  return std::string(kind) + " \"" + escaped(text.substr(0, 200)) + "\" " + std::string(problem);
}

}  // namespace

Address::Address() noexcept : size_(sizeof(sa_family_t)) { raw_.any.sa_family = AF_UNSPEC; }
Address::Address(const Address& other) noexcept : size_(other.size_) {
  std::memcpy(&raw_, &other.raw_, other.size_);
}
Address& Address::operator=(const Address& other) noexcept {
  std::memmove(&raw_, &other.raw_, other.size_);
  size_ = other.size_;
  return *this;
}

Address Address::parse(std::string_view text) {
  AddressReader reader(text);
  const std::optional<Address> address = reader.read();
  if (!address) throw std::invalid_argument(reader.problem());
  return *address;
}

std::optional<Address> Address::try_parse(std::string_view text, std::string* problem) {
  AddressReader reader(text);
  std::optional<Address> address = reader.read();
  if (!address && problem != nullptr) *problem = reader.problem();
  return address;
}

Address Address::ipv4(std::array<std::uint8_t, 4> bytes, std::uint16_t port) noexcept {
  sockaddr_in raw{};
  raw.sin_family = AF_INET;
  raw.sin_port = htons(port);
  std::memcpy(&raw.sin_addr, bytes.data(), bytes.size());
  return from(&raw, sizeof raw);
}

Address Address::ipv6(const std::array<std::uint8_t, 16>& bytes, std::uint16_t port,
                      std::uint32_t scope_id) noexcept {
  sockaddr_in6 raw{};
  raw.sin6_family = AF_INET6;
  raw.sin6_port = htons(port);
  raw.sin6_scope_id = scope_id;
  std::memcpy(&raw.sin6_addr, bytes.data(), bytes.size());
  return from(&raw, sizeof raw);
}

Address Address::loopback(std::uint16_t port) noexcept { return ipv4({127, 0, 0, 1}, port); }
Address Address::loopback_ipv6(std::uint16_t port) noexcept {
  return ipv6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, port);
}
Address Address::any(std::uint16_t port) noexcept { return ipv4({}, port); }
Address Address::any_ipv6(std::uint16_t port) noexcept { return ipv6({}, port); }

Address Address::unix_path(std::string_view path) {
  if (path.empty()) throw std::invalid_argument("the path of a Unix socket is empty");
  if (path.size() > longest_path_bytes)
    throw std::invalid_argument(
        quoted_problem("the path", path, "is too long for a Unix socket: 107 bytes at most"));
  if (path.find('\0') != path.npos)
    throw std::invalid_argument(quoted_problem("the path", path, "contains NUL"));
  Address address;
  address.raw_.unix_socket.sun_family = AF_UNIX;
  std::memcpy(address.raw_.unix_socket.sun_path, path.data(), path.size());
  address.raw_.unix_socket.sun_path[path.size()] = '\0';
  address.size_ = static_cast<socklen_t>(path_offset + path.size() + 1);
  return address;
}

Address Address::unix_abstract(std::string_view name) {
  if (name.size() > longest_path_bytes)
    throw std::invalid_argument(
        quoted_problem("the name", name, "is too long for a Unix socket: 107 bytes at most"));
  Address address;
  address.raw_.unix_socket.sun_family = AF_UNIX;
  address.raw_.unix_socket.sun_path[0] = '\0';
  std::memcpy(address.raw_.unix_socket.sun_path + 1, name.data(), name.size());
  address.size_ = static_cast<socklen_t>(path_offset + 1 + name.size());
  return address;
}

Address Address::from(const void* raw, std::size_t bytes) noexcept {
  Address address;
  if (bytes < sizeof(sa_family_t)) return address;
  sa_family_t family = AF_UNSPEC;
  std::memcpy(&family, raw, sizeof family);
  std::size_t used = 0;
  if (family == AF_INET && bytes >= sizeof(sockaddr_in)) used = sizeof(sockaddr_in);
  if (family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) used = sizeof(sockaddr_in6);
  if (family == AF_UNIX && bytes > path_offset) used = std::min(bytes, sizeof(sockaddr_un));
  if (used == 0) return address;
  std::memcpy(&address.raw_, raw, used);
  address.size_ = static_cast<socklen_t>(used);
  return address;
}

Address::Family Address::family() const noexcept {
  switch (raw_.any.sa_family) {
    case AF_INET:
      return Family::ipv4;
    case AF_INET6:
      return Family::ipv6;
    case AF_UNIX:
      return raw_.unix_socket.sun_path[0] == '\0' ? Family::unix_abstract : Family::unix_path;
    default:
      return Family::none;
  }
}

std::uint16_t Address::port() const noexcept {
  if (family() == Family::ipv4) return ntohs(raw_.ipv4.sin_port);
  return family() == Family::ipv6 ? ntohs(raw_.ipv6.sin6_port) : std::uint16_t{0};
}

Address Address::with_port(std::uint16_t port) const noexcept {
  require(family() == Family::ipv4 || family() == Family::ipv6, "an Address without ports gets one");
  Address address = *this;
  (family() == Family::ipv4 ? address.raw_.ipv4.sin_port : address.raw_.ipv6.sin6_port) = htons(port);
  return address;
}

std::uint32_t Address::scope_id() const noexcept {
  return family() == Family::ipv6 ? raw_.ipv6.sin6_scope_id : 0;
}

// A path ends at its NUL, if the kernel has written one; an abstract name only with the length.
std::string_view Address::path() const noexcept {
  const char* const begin = raw_.unix_socket.sun_path;
  if (family() == Family::unix_path) return {begin, ::strnlen(begin, size_ - path_offset)};
  if (family() == Family::unix_abstract) return {begin + 1, size_ - path_offset - 1};
  return {};
}

std::string Address::host() const {
  char text[INET6_ADDRSTRLEN] = "";
  switch (family()) {
    case Family::none:
      return "nowhere";
    case Family::ipv4:
      return ::inet_ntop(AF_INET, &raw_.ipv4.sin_addr, text, sizeof text);
    case Family::ipv6: {
      std::string host = ::inet_ntop(AF_INET6, &raw_.ipv6.sin6_addr, text, sizeof text);
      if (scope_id() != 0) host += "%" + std::to_string(scope_id());
      return host;
    }
    case Family::unix_path:  // one that begins like an abstract name
      return (path().front() == '@' ? "unix:./" : "unix:") + escaped(path());
    case Family::unix_abstract:
      return "unix:@" + escaped(path());
  }
  return text;
}

std::string Address::to_string() const {
  switch (family()) {
    case Family::ipv4:
      return host() + ":" + std::to_string(port());
    case Family::ipv6:
      return "[" + host() + "]:" + std::to_string(port());
    default:
      return host();
  }
}

std::strong_ordering operator<=>(const Address& a, const Address& b) noexcept {
  if (const auto order = a.family() <=> b.family(); order != 0) return order;
  const auto bytes = [](const void* x, const void* y, std::size_t count) {
    return std::memcmp(x, y, count) <=> 0;
  };
  if (a.family() == Address::Family::ipv4) {
    const auto order = bytes(&a.raw_.ipv4.sin_addr, &b.raw_.ipv4.sin_addr, sizeof(in_addr));
    return order != 0 ? order : a.port() <=> b.port();
  }
  if (a.family() == Address::Family::ipv6) {
    auto order = bytes(&a.raw_.ipv6.sin6_addr, &b.raw_.ipv6.sin6_addr, sizeof(in6_addr));
    if (order == 0) order = a.port() <=> b.port();
    return order != 0 ? order : a.scope_id() <=> b.scope_id();
  }
  return a.path() <=> b.path();
}

}  // namespace bide
