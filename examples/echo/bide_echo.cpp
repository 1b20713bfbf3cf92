// bide-echo: sends back what comes. Try: bide-echo --port 7777, then: nc 127.0.0.1 7777

#include <bide/executor/executor.hpp>
#include <bide/executor/io/tcp.hpp>

#include "../serving/command_line.hpp"
#include "../serving/server.hpp"

namespace {

// An idle connection holds no buffer: `receive` takes one of the driver's when something comes.
bide::Task<> echo(bide::TcpStream& stream, bide_serving::Server::Connection& connection) {
  connection.idle = true;  // whatever has come was sent back: there is nothing to finish
  for (;;) {
    bide::Received received = co_await stream.receive();
    if (received.data().empty()) co_return;
    co_await stream.write_all(received.data());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Sends every connection back what it sends.", "bide-echo");
  bide_serving::ServerOptions options;
  bide_serving::add_options(app, options, "--port");
  return bide_serving::run_program(app, argc, argv, [&] {
    bide_serving::Server server(options);
    return bide_serving::run_server(server, "bide-echo", echo);
  });
}
