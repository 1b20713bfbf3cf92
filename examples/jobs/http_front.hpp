#pragma once

#include "../http/request_parser.hpp"
#include "../serving/server.hpp"

#include <bide/executor/io/tcp.hpp>
#include <bide/executor/task.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace bide_jobs {

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string headers;  // further ones, each with its line end
};

/// The requests of connections, for a handler that gives the answers: HTTP/1.1 with keep-alive and pipelining.
///
/// Bounds: a request of 16 KiB of head and 1 MiB of body; `request` from its first byte to its last, `write` for each
///         64 KiB of an answer. A client that is slower, or sends more, is told so and cut off.
class HttpFront {
 public:
  struct Limits {
    bide::Duration idle = std::chrono::seconds(60);  // between two requests
    bide::Duration request = std::chrono::seconds(10);
    bide::Duration write = std::chrono::seconds(30);
  };
  using Handler = std::function<bide::Task<Answer>(const bide_http::Request&)>;
  /// The answer to a request that can't be read: only its status and `text` are known.
  using Refusal = std::function<Answer(int status, std::string text)>;

  HttpFront(Limits limits, bide_serving::Server& server, Handler handler, Refusal refusal)
      : limits_(limits), server_(server), handler_(std::move(handler)), refusal_(std::move(refusal)) {}

  /// All requests of one connection.
  bide::Task<> serve(bide::TcpStream& stream, bide_serving::Server::Connection& connection);

 private:
  struct Exchange;

  bide::Task<> receive(Exchange& exchange, bide::Instant due);
  bide::Task<std::size_t> answer_all(Exchange& exchange);
  bide::Task<> send(Exchange& exchange, Answer answer);
  bide::Task<> let_read(Exchange& exchange);

  Limits limits_;
  bide_serving::Server& server_;
  Handler handler_;
  Refusal refusal_;
};

}  // namespace bide_jobs
