#include "request_parser.hpp"

#include <strings.h>

#include <climits>
#include <utility>

namespace bide_http {

RequestParser::RequestParser(Bodies bodies) : bodies_(bodies) {
  ::http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
}

// Of those headers that are of interest; nullptr for others.
std::string* RequestParser::value_for_header() {
  const std::pair<const char*, std::string*> known[] = {
      {"Range", &request_.range},
      {"If-Range", &request_.if_range},
      {"If-None-Match", &request_.if_none_match},
      {"If-Modified-Since", &request_.if_modified_since},
      {"Host", &request_.host},
      {"Origin", &request_.origin},
      {"Content-Type", &request_.content_type},
      {"Authorization", &request_.authorization},
  };
  for (const auto& [name, value] : known) {
    if (::strcasecmp(field_.c_str(), name) == 0) return value;
  }
  return nullptr;
}

// Returns: what a callback returns, not 0 to end the parsing.
int RequestParser::head_has_room(std::size_t more_bytes, int status) {
  head_bytes_ += more_bytes;
  if (head_bytes_ <= most_head_bytes) return 0;
  refused_ = status;
  return -1;
}

void RequestParser::header_ended() {
  if (std::string* const value = value_for_header(); value != nullptr) *value = value_;
  field_.clear();
  value_.clear();
  in_value_ = false;
}

const http_parser_settings& RequestParser::callbacks() {
  static const http_parser_settings settings = [] {
    http_parser_settings made;
    ::http_parser_settings_init(&made);
    made.on_message_begin = [](http_parser* parser) {
      RequestParser& self = of(parser);
      self.request_ = Request();
      self.field_.clear();
      self.value_.clear();
      self.in_value_ = false;
      self.head_bytes_ = self.body_bytes_ = 0;
      self.begun_ = true;
      return 0;
    };
    made.on_url = [](http_parser* parser, const char* text, std::size_t size) {
      of(parser).request_.target.append(text, size);
      return of(parser).head_has_room(size, 414);
    };
    made.on_header_field = [](http_parser* parser, const char* text, std::size_t size) {
      RequestParser& self = of(parser);
      if (self.in_value_) self.header_ended();
      self.field_.append(text, size);
      return self.head_has_room(size, 431);
    };
    made.on_header_value = [](http_parser* parser, const char* text, std::size_t size) {
      RequestParser& self = of(parser);
      constexpr std::size_t separator_bytes =
          4;  // ": ", and the end of the line; a value may come in many pieces
      const std::size_t more = self.in_value_ ? 0 : separator_bytes;
      self.in_value_ = true;
      self.value_.append(text, size);
      return self.head_has_room(size + more, 431);
    };
    made.on_headers_complete = [](http_parser* parser) {
      RequestParser& self = of(parser);
      if (self.in_value_) self.header_ended();
      if (parser->http_major != 1) {
        self.refused_ = 505;
        return -1;
      }
      if (parser->content_length != ULLONG_MAX && parser->content_length > most_body_bytes) {
        self.refused_ = 413;
        return -1;
      }
      return 0;
    };
    made.on_body = [](http_parser* parser, const char* text, std::size_t size) {
      RequestParser& self = of(parser);
      self.body_bytes_ += size;
      if (self.body_bytes_ > most_body_bytes) {
        self.refused_ = 413;
        return -1;
      }
      if (self.bodies_ == Bodies::keep) self.request_.body.append(text, size);
      return 0;
    };
    made.on_message_complete = [](http_parser* parser) {
      RequestParser& self = of(parser);
      Request& request = self.request_;
      if (parser->method == HTTP_GET) request.method = Request::Method::get;
      if (parser->method == HTTP_HEAD) request.method = Request::Method::head;
      request.method_name = ::http_method_str(static_cast<http_method>(parser->method));
      request.keep_alive = ::http_should_keep_alive(parser) != 0;
      self.complete_ = true;
      self.begun_ = false;
      ::http_parser_pause(parser, 1);  // so that the next request stays with the caller
      return 0;
    };
    return made;
  }();
  return settings;
}

std::size_t RequestParser::feed(std::span<const std::byte> bytes) {
  if (refused_ || bytes.empty()) return 0;
  complete_ = false;
  ::http_parser_pause(&parser_, 0);
  const std::size_t taken = ::http_parser_execute(&parser_, &callbacks(),
                                                  reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (complete_) return taken;
  if (!refused_) {
    switch (HTTP_PARSER_ERRNO(&parser_)) {
      case HPE_OK:
        break;
      case HPE_HEADER_OVERFLOW:
        refused_ = 431;
        break;
      case HPE_INVALID_VERSION:
        refused_ = 505;
        break;
      default:
        refused_ = 400;
        break;
    }
  }
  return taken;
}

}  // namespace bide_http
