#include "http_front.hpp"

#include "../http/http_status.hpp"

#include <bide/executor/io/stream.hpp>
#include <bide/executor/scope/timeout.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace bide_jobs {

using namespace bide;

namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;
constexpr Duration linger = std::chrono::seconds(2);  // for a client that is refused

std::string_view refusal_text(int status) {
  switch (status) {
    case 408:
      return "the request took too long to come";
    case 413:
      return "the body is longer than 1 MiB";
    case 414:
      return "the target is longer than 16 KiB";
    case 431:
      return "the head is longer than 16 KiB";
    case 505:
      return "expected HTTP/1.1";
    default:
      return "this is no request of HTTP/1.1";
  }
}

}  // namespace

struct HttpFront::Exchange {
  Exchange(TcpStream& peer, bide_serving::Server::Connection& of)
      : stream(peer), connection(of), parser(bide_http::Bodies::keep) {}
  TcpStream& stream;
  bide_serving::Server::Connection& connection;
  bide_http::RequestParser parser;
  std::string unread;  // bytes that came and were not parsed yet
  bool ended = false;  // the client's side
  bool goes_on = true;
};

Task<> HttpFront::serve(TcpStream& stream, bide_serving::Server::Connection& connection) {
  Exchange exchange(stream, connection);
  Instant request_due{};
  while (exchange.goes_on && (!server_.ending() || exchange.parser.begun())) {
    connection.idle = !exchange.parser.begun();
    if (connection.idle) connection.idle_since = now();
    const Instant due = connection.idle ? add_saturating(now(), limits_.idle) : request_due;
    co_await receive(exchange, due);
    if (exchange.ended) break;
    if (exchange.unread.empty()) {
      exchange.goes_on = false;
      if (!connection.idle) co_await send(exchange, refusal_(408, std::string(refusal_text(408))));
      break;
    }
    if (connection.idle) request_due = add_saturating(now(), limits_.request);
    connection.idle = false;
    const std::size_t answered_count = co_await answer_all(exchange);
    // What has begun is another request then, with a time of its own.
    if (answered_count > 0) request_due = add_saturating(now(), limits_.request);
  }
  if (exchange.parser.refused()) co_await let_read(exchange);
}

/// Nothing unread then: the time is up.
Task<> HttpFront::receive(Exchange& exchange, Instant due) {
  const auto received = co_await try_timeout(subtract_saturating(due, now()), exchange.stream.receive());
  if (!received) co_return;
  exchange.ended = received->data().empty();
  exchange.unread += text_of(received->data());
}

/// All requests that have come completely. Returns: how many.
Task<std::size_t> HttpFront::answer_all(Exchange& exchange) {
  std::size_t answered_count = 0;
  std::size_t taken = 0;
  while (taken < exchange.unread.size() && exchange.goes_on) {
    taken += exchange.parser.feed(bytes_of(std::string_view(exchange.unread).substr(taken)));
    if (const std::optional<int> refused = exchange.parser.refused()) {
      exchange.goes_on = false;
      Answer answer = refusal_(*refused, std::string(refusal_text(*refused)));
      co_await send(exchange, std::move(answer));
    } else if (exchange.parser.complete()) {
      exchange.goes_on = exchange.parser.request().keep_alive && !server_.ending();
      Answer answer = co_await handler_(exchange.parser.request());
      co_await send(exchange, std::move(answer));
      ++answered_count;
    }
  }
  exchange.unread.clear();
  co_return answered_count;
}

Task<> HttpFront::send(Exchange& exchange, Answer answer) {
  std::string out = "HTTP/1.1 " + std::to_string(answer.status) + " ";
  out += bide_http::reason_phrase(answer.status);
  out += "\r\nServer: bide-jobs\r\nContent-Type: " + answer.type;
  out += "\r\nContent-Length: " + std::to_string(answer.body.size());
  out += exchange.goes_on ? "\r\nConnection: keep-alive\r\n" : "\r\nConnection: close\r\n";
  out += answer.headers + "\r\n";
  const bool head_only =
      exchange.parser.complete() && exchange.parser.request().method == bide_http::Request::Method::head;
  if (!head_only) out += answer.body;
  std::span<const std::byte> left = bytes_of(out);
  while (!left.empty()) {
    const std::span<const std::byte> piece = left.first(std::min(left.size(), chunk_bytes));
    co_await timeout(limits_.write, exchange.stream.write_all(piece));
    left = left.subspan(piece.size());
  }
}

/// A client that is still sending would be told of a reset, and never see the answer.
Task<> HttpFront::let_read(Exchange& exchange) {
  exchange.stream.shutdown_write();
  const Instant due = add_saturating(now(), linger);
  while (!exchange.ended && now() < due) {
    co_await receive(exchange, due);
    exchange.unread.clear();
  }
}

}  // namespace bide_jobs
