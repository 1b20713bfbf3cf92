// bide-http: serves the files of a directory. Try: bide-http --port 8080 --root ., then: curl http://127.0.0.1:8080/

#include <bide/executor/executor.hpp>

#include "../serving/command_line.hpp"
#include "../serving/server.hpp"
#include "file_store.hpp"
#include "http_server.hpp"

int main(int argc, char** argv) {
  CLI::App app("Serves the files of a directory over HTTP/1.1. A status page is at /-/status.", "bide-http");
  bide_serving::ServerOptions server_options;
  bide_http::HttpOptions options;
  std::string root;
  bide_serving::add_options(app, server_options, "--port");
  app.add_option("--root", root, "Directory to serve; links in it are followed")->required();
  const auto add_timeout = [&app](const char* name, bide::Duration& duration, const char* text) {
    app.add_option_function<double>(
           name,
           [&duration](const double& seconds) {
             duration = bide::Duration(static_cast<std::int64_t>(seconds * 1e9));
           },
           text)
        ->check(CLI::Range(0.001, 86'400.0));
  };
  add_timeout("--idle-timeout", options.idle_timeout, "Seconds between two requests (default 60)");
  add_timeout("--head-timeout", options.head_timeout, "Seconds that a request may take to come (default 10)");
  add_timeout("--write-timeout", options.write_timeout, "Seconds for 64 KiB of a response (default 30)");
  return bide_serving::run_program(app, argc, argv, [&] {
    bide_http::FileStore files(root);
    bide_serving::Server server(server_options);
    bide_http::HttpServer http(options, files, server);
    const auto serve = [&http](bide::TcpStream& stream, bide_serving::Server::Connection& connection) {
      return http.serve(stream, connection);
    };
    return bide_serving::run_server(server, "bide-http", serve);
  });
}
