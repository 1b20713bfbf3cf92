#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <bide/executor/io/tcp.hpp>
#include <bide/executor/task.hpp>

#include "../serving/server.hpp"
#include "file_store.hpp"
#include "request_parser.hpp"

namespace bide_http {

struct HttpOptions {
  bide::Duration idle_timeout = std::chrono::seconds(60);   // between two requests
  bide::Duration head_timeout = std::chrono::seconds(10);   // from the first byte of a request to its last
  bide::Duration write_timeout = std::chrono::seconds(30);  // for each piece of a response
};

struct HttpCounts {
  std::uint64_t requests = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t by_class[6] = {};  // responses, by the first digit of their status
  std::uint64_t timeouts = 0;      // connections given up because the client was too slow
};

/// GET and HEAD of the files of a FileStore, over HTTP/1.1 with keep-alive and pipelining, and a status page at
/// /-/status (also /-/status.json).
///
/// Bounds: per connection 16 KiB of head, 1 MiB of a body that is thrown away, and 128 KiB of response.
class HttpServer {
 public:
  HttpServer(HttpOptions options, FileStore& files, bide_serving::Server& server)
      : options_(options), files_(files), server_(server) {}

  /// All requests of one connection.
  bide::Task<> serve(bide::TcpStream& stream, bide_serving::Server::Connection& connection);

 private:
  struct Exchange;  // one connection's state

  bide::Task<std::size_t> take_requests(Exchange& exchange);
  bide::Task<> respond(Exchange& exchange);
  bide::Task<> respond_with_file(Exchange& exchange, const StoredFile& file, bide::File& opened);
  bide::Task<> send_from_disk(Exchange& exchange, bide::File& file, std::uint64_t first, std::uint64_t count);
  bide::Task<> flush(Exchange& exchange);
  bide::Task<> let_read(Exchange& exchange);
  void respond_with_text(Exchange& exchange, int status, std::string_view type, std::string_view body,
                         std::string_view more_headers = {});
  void respond_with_error(Exchange& exchange, int status, std::string_view more_headers = {});
  void begin_head(Exchange& exchange, int status);
  std::string status_page() const;
  std::string status_json() const;

  HttpOptions options_;
  FileStore& files_;
  bide_serving::Server& server_;
  HttpCounts counts_;
  std::int64_t date_second_ = -1;
  std::string date_;
};

}  // namespace bide_http
