#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bide_http {

/// "Sun, 06 Nov 1994 08:49:37 GMT". Source: RFC 9110, section 5.6.7.
std::string http_date(std::int64_t seconds_since_1970);

/// Seconds since 1970, from that form alone; nullopt for anything else.
std::optional<std::int64_t> parse_http_date(const std::string& text);

}  // namespace bide_http
