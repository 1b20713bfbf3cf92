// bide-echo: sends back what comes. Try: bide-echo --port 7777, then: nc 127.0.0.1 7777

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/stream.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/io/tls/tls_stream.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "../serving/command_line.hpp"
#include "../serving/server.hpp"

namespace {

// An idle connection holds no buffer: `receive` takes one of the driver's when something comes. It goes back before the
// write, which lasts as long as the peer pleases: peers that never read must not keep all the buffers.
bide::Task<> echo(bide::TcpStream& stream, bide_serving::Server::Connection& connection) {
  for (;;) {
    std::vector<std::byte> bytes;
    connection.idle = true;  // whatever has come was sent back: there is nothing to finish
    {
      const bide::Received received = co_await stream.receive();
      bytes.assign(received.data().begin(), received.data().end());
    }
    if (bytes.empty()) co_return;
    connection.idle = false;
    co_await stream.write_all(bytes);
  }
}

/// The same over TLS.
class TlsEcho {
 public:
  explicit TlsEcho(const bide::TlsServerOptions& options) : context_(bide::TlsContext::server(options)) {}

  bide::Task<> serve(bide::TcpStream& stream, bide_serving::Server::Connection& connection) {
    constexpr bide::Duration patience = std::chrono::seconds(10);  // for the handshake
    bide::Task<Stream> handshake = Stream::accept(std::move(stream), context_);
    Stream session = co_await bide::timeout(patience, std::move(handshake));
    std::array<std::byte, 4096> buffer;  // NOLINT: all of it is written before it is read
    for (;;) {
      connection.idle = true;
      const std::size_t count = co_await session.read(buffer);
      connection.idle = false;
      if (count == 0) break;
      co_await bide::write_all(session, std::span<const std::byte>(buffer.data(), count));
    }
    co_await session.close();
  }

 private:
  using Stream = bide::TlsStream<bide::TcpStream>;

  bide::TlsContext context_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Sends every connection back what it sends.", "bide-echo");
  bide_serving::ServerOptions options;
  bide_serving::add_options(app, options, "--port");
  std::string certificate;
  std::string key;
  CLI::Option* const certificate_option =
      app.add_option("--tls-certificate", certificate, "Speak TLS: PEM file of the certificate chain");
  CLI::Option* const key_option = app.add_option("--tls-key", key, "PEM file of its private key");
  certificate_option->needs(key_option);
  key_option->needs(certificate_option);
  return bide_serving::run_program(app, argc, argv, [&] {
    if (certificate.empty()) {
      bide_serving::Server server(options);
      return bide_serving::run_server(server, "bide-echo", echo);
    }
    TlsEcho tls({.certificate_chain_file = certificate.c_str(), .private_key_file = key.c_str()});
    bide_serving::Server server(options);
    const auto serve = [&tls](bide::TcpStream& stream, bide_serving::Server::Connection& connection) {
      return tls.serve(stream, connection);
    };
    return bide_serving::run_server(server, "bide-echo", serve);
  });
}
