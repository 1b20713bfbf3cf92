#include "loopback.hpp"

#include <arpa/inet.h>
#include <strings.h>

#include <string>

namespace bide_jobs {

bool is_loopback(std::string_view host) {
  const std::string text(host);
  if (::strcasecmp(text.c_str(), "localhost") == 0 || text == "::1" || text == "[::1]") return true;
  in_addr address{};
  constexpr unsigned loopback_network = 127;
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1 &&
         ntohl(address.s_addr) >> 24U == loopback_network;
}

}  // namespace bide_jobs
