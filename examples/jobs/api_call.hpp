#pragma once

#include "../http/request_parser.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bide_jobs {

/// A request, taken apart: `/api/jobs/7?limit=5` has the path api, jobs, 7 and the query limit: 5, both unescaped.
struct ApiCall {
  /// Throws: ApiError 400, an escape that is none. Requires: the request outlives it.
  explicit ApiCall(const bide_http::Request& request);

  bool is(std::initializer_list<std::string_view> parts) const;
  /// Of the query. Throws: ApiError 400, no whole number.
  std::uint64_t number(const std::string& name, std::uint64_t otherwise) const;
  std::string text(const std::string& name) const;

  std::string method;  // HEAD is GET
  std::vector<std::string> path;
  std::map<std::string, std::string> query;
  const std::string& body;
};

/// A decimal number of 64 bits, and nothing else.
std::optional<std::uint64_t> parse_whole(std::string_view text);

}  // namespace bide_jobs
