#pragma once

#include <http_parser.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bide_http {

struct Request {
  enum class Method { get, head, other };
  Method method = Method::other;
  std::string target;
  bool keep_alive = true;
  std::string range;  // of a Range header; empty: none
  std::string if_range;
  std::string if_none_match;
  std::string if_modified_since;
  std::string host;
  std::string origin;
  std::string content_type;
  std::string authorization;
  std::string method_name;  // as it was sent
  std::string body;         // for Bodies::keep
};

/// What becomes of a request's body; its bound is the same either way.
enum class Bodies { discard, keep };

/// Reads HTTP/1.x requests from bytes as they come, one after the other, with limits on what a client may send.
class RequestParser {
 public:
  static constexpr std::size_t most_head_bytes = 16 * 1024;
  static constexpr std::size_t most_body_bytes = 1024 * 1024;

  explicit RequestParser(Bodies bodies = Bodies::discard);
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// Takes bytes up to the end of a request. Returns: how many; fewer than there are when a request is complete, or
  /// when it can't be read.
  std::size_t feed(std::span<const std::byte> bytes);

  bool complete() const { return complete_; }
  /// The status to refuse with: 400, 413, 414, 431 or 505. Nothing more can be read then.
  std::optional<int> refused() const { return refused_; }
  /// Some of a request has come, and not all.
  bool begun() const { return begun_; }

  /// The complete request. Requires: complete(). The next `feed` begins the next one.
  const Request& request() const { return request_; }

 private:
  std::string* value_for_header();
  void header_ended();
  int head_has_room(std::size_t more_bytes, int status);
  static RequestParser& of(http_parser* parser) { return *static_cast<RequestParser*>(parser->data); }
  static const http_parser_settings& callbacks();

  http_parser parser_{};
  Bodies bodies_;
  Request request_;
  std::string field_;
  std::string value_;
  bool in_value_ = false;
  bool begun_ = false;
  bool complete_ = false;
  std::size_t head_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  std::optional<int> refused_;
};

}  // namespace bide_http
