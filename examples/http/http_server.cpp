#include "http_server.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <bide/executor/io/stream.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "byte_range.hpp"
#include "http_date.hpp"
#include "http_status.hpp"
#include "target_path.hpp"

namespace bide_http {

using namespace bide;

namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;
constexpr Duration linger = std::chrono::seconds(2);  // for a client that is refused
constexpr std::string_view status_path = "-/status";

void append(std::string& text, std::uint64_t number) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  static_cast<void>(error);
  text.append(digits, end);
}

void append_length(std::string& text, std::uint64_t length) {
  text += "Content-Length: ";
  append(text, length);
  text += "\r\n";
}

// One of the tags of an If-None-Match header is the file's. Weak ones count: their comparison is the right one here.
bool names_tag(std::string_view header, std::string_view tag) {
  while (!header.empty()) {
    const std::size_t comma = std::min(header.find(','), header.size());
    std::string_view one = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    if (one.substr(0, 2) == "W/") one.remove_prefix(2);
    if (one == tag || one == "*") return true;
  }
  return false;
}

bool unchanged(const Request& request, const StoredFile& file) {
  if (!request.if_none_match.empty()) return names_tag(request.if_none_match, file.etag);
  if (request.if_modified_since.empty()) return false;
  const auto since = parse_http_date(request.if_modified_since);
  return since && file.modified_seconds <= *since;
}

// A range of another version than the client has is of no use to it.
bool range_counts(const Request& request, const StoredFile& file) {
  if (request.range.empty()) return false;
  return request.if_range.empty() || request.if_range == file.etag ||
         request.if_range == http_date(file.modified_seconds);
}

}  // namespace

struct HttpServer::Exchange {
  explicit Exchange(TcpStream& peer) : stream(peer) {}
  TcpStream& stream;
  RequestParser parser;
  std::string unread;  // bytes that came and were not parsed yet
  std::string out;     // the beginning of what is to be sent
  bool goes_on = true;
};

Task<> HttpServer::serve(TcpStream& stream, bide_serving::Server::Connection& connection) {
  Exchange exchange(stream);
  Instant head_due{};
  while (exchange.goes_on && (!server_.ending() || exchange.parser.begun())) {
    connection.idle = !exchange.parser.begun();
    const Instant due = connection.idle ? add_saturating(now(), options_.idle_timeout) : head_due;
    {
      auto received = co_await try_timeout(subtract_saturating(due, now()), stream.receive());
      if (received) {
        if (received->data().empty()) break;  // the client has ended its side
        exchange.unread += text_of(received->data());
      }
    }
    if (exchange.unread.empty()) {
      ++counts_.timeouts;
      if (connection.idle) break;
      exchange.goes_on = false;
      respond_with_error(exchange, 408);
    }
    if (connection.idle) head_due = add_saturating(now(), options_.head_timeout);
    connection.idle = false;
    const std::size_t complete_count = co_await take_requests(exchange);
    co_await flush(exchange);
    // What has begun is another request then, with a time of its own.
    if (complete_count > 0) head_due = add_saturating(now(), options_.head_timeout);
  }
  if (exchange.parser.refused()) co_await let_read(exchange);
}

// A client that is still sending would be told of a reset, and never see the answer.
Task<> HttpServer::let_read(Exchange& exchange) {
  exchange.stream.shutdown_write();
  const Instant due = add_saturating(now(), linger);
  for (bool more = true; more;) {
    const auto received = co_await try_timeout(subtract_saturating(due, now()), exchange.stream.receive());
    more = received && !received->data().empty();
  }
}

// All that has come completely. Returns: how many.
Task<std::size_t> HttpServer::take_requests(Exchange& exchange) {
  std::size_t complete_count = 0;
  std::size_t taken = 0;
  while (taken < exchange.unread.size() && exchange.goes_on) {
    taken += exchange.parser.feed(bytes_of(std::string_view(exchange.unread).substr(taken)));
    if (const auto refused = exchange.parser.refused()) {
      exchange.goes_on = false;
      respond_with_error(exchange, *refused);
    } else if (exchange.parser.complete()) {
      ++complete_count;
      co_await respond(exchange);
      if (exchange.out.size() >= chunk_bytes) co_await flush(exchange);
    }
  }
  exchange.unread.clear();
  co_return complete_count;
}

Task<> HttpServer::flush(Exchange& exchange) {
  std::span<const std::byte> left = bytes_of(exchange.out);
  while (!left.empty()) {
    const std::span<const std::byte> piece = left.first(std::min(left.size(), chunk_bytes));
    co_await timeout(options_.write_timeout, exchange.stream.write_all(piece));
    counts_.bytes_sent += piece.size();
    left = left.subspan(piece.size());
  }
  exchange.out.clear();
}

void HttpServer::begin_head(Exchange& exchange, int status) {
  ++counts_.by_class[status / 100];
  const std::int64_t second = std::time(nullptr);
  if (second != date_second_) {
    date_second_ = second;
    date_ = http_date(second);
  }
  std::string& out = exchange.out;
  out += "HTTP/1.1 ";
  append(out, static_cast<std::uint64_t>(status));
  out += ' ';
  out += reason_phrase(status);
  out += "\r\nServer: bide-http\r\nDate: ";
  out += date_;
  out += exchange.goes_on ? "\r\nConnection: keep-alive\r\n" : "\r\nConnection: close\r\n";
}

void HttpServer::respond_with_text(Exchange& exchange, int status, std::string_view type,
                                   std::string_view body, std::string_view more_headers) {
  begin_head(exchange, status);
  exchange.out += "Content-Type: ";
  exchange.out += type;
  exchange.out += "\r\n";
  append_length(exchange.out, body.size());
  exchange.out += more_headers;
  exchange.out += "\r\n";
  const bool head_only =
      exchange.parser.complete() && exchange.parser.request().method == Request::Method::head;
  if (!head_only) exchange.out += body;
}

void HttpServer::respond_with_error(Exchange& exchange, int status, std::string_view more_headers) {
  std::string body = std::to_string(status) + " ";
  body += reason_phrase(status);
  body += '\n';
  respond_with_text(exchange, status, "text/plain; charset=utf-8", body, more_headers);
}

Task<> HttpServer::respond(Exchange& exchange) {
  const Request& request = exchange.parser.request();
  ++counts_.requests;
  exchange.goes_on = request.keep_alive && !server_.ending();
  if (request.method == Request::Method::other) {
    exchange.goes_on = false;
    respond_with_error(exchange, 405, "Allow: GET, HEAD\r\n");
    co_return;
  }
  const std::optional<std::string> path = target_path(request.target);
  if (!path) {
    respond_with_error(exchange, 400);
    co_return;
  }
  if (*path == status_path) {
    respond_with_text(exchange, 200, "text/html; charset=utf-8", status_page(),
                      "Cache-Control: no-store\r\n");
    co_return;
  }
  if (*path == std::string(status_path) + ".json") {
    respond_with_text(exchange, 200, "application/json", status_json(), "Cache-Control: no-store\r\n");
    co_return;
  }
  FileStore::Answer answer;
  File opened;  // if it is not in memory
  std::error_code failed;
  try {
    answer = co_await files_.find(*path);
    if (answer.found == FileStore::Found::file && !answer.file->in_memory) {
      // Another file may have come by the name since: what the head says is of the bytes that are sent.
      opened = co_await files_.open(*path);
      answer.file = FileStore::describe(opened);
    }
  } catch (const std::system_error& error) {
    failed = error.code();
  }
  if (failed) {
    const bool gone = failed == std::errc::no_such_file_or_directory;
    respond_with_error(exchange, gone ? 404 : 500);
  } else if (answer.found == FileStore::Found::directory) {
    respond_with_error(exchange, 301, "Location: " + with_slash(*path, request.target) + "\r\n");
  } else if (answer.found == FileStore::Found::forbidden) {
    respond_with_error(exchange, 403);
  } else if (answer.found == FileStore::Found::nothing) {
    respond_with_error(exchange, 404);
  } else {
    co_await respond_with_file(exchange, *answer.file, opened);
  }
  if (opened.is_open()) co_await opened.close();
}

Task<> HttpServer::respond_with_file(Exchange& exchange, const StoredFile& file, File& opened) {
  const Request& request = exchange.parser.request();
  std::string& out = exchange.out;
  if (unchanged(request, file)) {
    begin_head(exchange, 304);
    out += "ETag: " + file.etag + "\r\n\r\n";
    co_return;
  }
  RangeAnswer range;
  if (range_counts(request, file)) range = answer_range(request.range, file.size);
  if (range.kind == RangeAnswer::Kind::unsatisfiable) {
    respond_with_error(exchange, 416, "Content-Range: bytes */" + std::to_string(file.size) + "\r\n");
    co_return;
  }
  const bool part = range.kind == RangeAnswer::Kind::part;
  const ByteRange bytes = part ? range.part : ByteRange{.first = 0, .count = file.size};
  begin_head(exchange, part ? 206 : 200);
  out += "Content-Type: ";
  out += file.media_type;
  out += "\r\n";
  append_length(out, bytes.count);
  if (part) {
    out += "Content-Range: bytes " + std::to_string(bytes.first) + "-" +
           std::to_string(bytes.first + bytes.count - 1) + "/" + std::to_string(file.size) + "\r\n";
  }
  out += "Accept-Ranges: bytes\r\nLast-Modified: ";
  out += http_date(file.modified_seconds);
  out += "\r\nETag: ";
  out += file.etag;
  out += "\r\n\r\n";
  if (request.method == Request::Method::head) co_return;
  if (file.in_memory) {
    out.append(file.bytes, static_cast<std::size_t>(bytes.first), static_cast<std::size_t>(bytes.count));
  } else {
    co_await send_from_disk(exchange, opened, bytes.first, bytes.count);
  }
}

// The head is out already: a file that fails, or shrinks, can only cut the connection.
Task<> HttpServer::send_from_disk(Exchange& exchange, File& file, std::uint64_t first, std::uint64_t count) {
  co_await flush(exchange);
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(count, chunk_bytes)));
  while (count > 0) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, buffer.size()));
    const std::size_t came = co_await file.read_at(first, std::span<std::byte>(buffer).first(wanted));
    if (came == 0)
      throw std::system_error(EIO, std::generic_category(),
                              file.path() + " became shorter while it was sent");
    co_await timeout(options_.write_timeout,
                     exchange.stream.write_all(std::span<const std::byte>(buffer).first(came)));
    counts_.bytes_sent += came;
    first += came;
    count -= came;
  }
}

std::string HttpServer::status_json() const {
  nlohmann::ordered_json json;
  json["connections"] = {{"open", server_.open_count()},
                         {"accepted", server_.counts().accepted},
                         {"failed", server_.counts().failed},
                         {"timeouts", counts_.timeouts}};
  json["requests"] = counts_.requests;
  json["responses"] = {{"2xx", counts_.by_class[2]},
                       {"3xx", counts_.by_class[3]},
                       {"4xx", counts_.by_class[4]},
                       {"5xx", counts_.by_class[5]}};
  json["bytes_sent"] = counts_.bytes_sent;
  if (const Driver* const driver = Executor::current().driver(); driver != nullptr) {
    const DriverStatistics statistics = driver->statistics();
    json["driver"] = {{"name", driver->name()},
                      {"operations", statistics.started},
                      {"enters", statistics.enters},
                      {"fallbacks", statistics.fallbacks}};
  }
  return json.dump(2) + "\n";
}

std::string HttpServer::status_page() const {
  return "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>bide-http</title>"
         "<meta http-equiv=\"refresh\" content=\"2\"><style>body{font:16px sans-serif;margin:2em}</style>"
         "<h1>bide-http</h1><pre>" +
         status_json() + "</pre></html>\n";
}

}  // namespace bide_http
