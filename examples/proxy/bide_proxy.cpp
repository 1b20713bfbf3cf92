// bide-proxy: forwards TCP connections. Try: bide-proxy --listen 8080 --to 127.0.0.1:80 --rate 1000000

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/resolve.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_all.hpp>
#include <bide/executor/sync/rate_limiter.hpp>

#include "../serving/command_line.hpp"
#include "../serving/server.hpp"

namespace {

using namespace bide;

struct ProxyOptions {
  std::string to;
  std::uint64_t rate = 0;        // bytes a second for each direction of a connection; 0: no limit
  std::uint64_t total_rate = 0;  // for all together
  double connect_seconds = 10;
};

constexpr std::size_t chunk_bytes = 64 * 1024;

/// What may pass: at most `chunk_bytes` at a time, so that one connection does not take all of a shared limit.
class Limit {
 public:
  explicit Limit(std::uint64_t bytes_a_second) {
    if (bytes_a_second > 0)
      limiter_.emplace(Rate(bytes_a_second), std::max<std::uint64_t>(bytes_a_second, chunk_bytes));
  }
  Task<> pass(std::size_t bytes) {
    if (limiter_) co_await limiter_->acquire(bytes);
  }

 private:
  std::optional<RateLimiter> limiter_;
};

// One direction. At its end it passes the end on, and the other direction goes on.
Task<> forward(TcpStream& from, TcpStream& to, Limit& each, Limit& total) {
  std::array<std::byte, chunk_bytes> buffer;  // NOLINT: all of it is written before it is read
  for (;;) {
    const std::size_t count = co_await from.read(buffer);
    if (count == 0) break;
    co_await each.pass(count);
    co_await total.pass(count);
    co_await to.write_all(std::span<const std::byte>(buffer.data(), count));
  }
  to.shutdown_write();
}

class Proxy {
 public:
  Proxy(ProxyOptions options, Address target)
      : options_(std::move(options)), target_(target), total_(options_.total_rate) {}

  Task<> serve(TcpStream& client) {
    const Duration patience(static_cast<std::int64_t>(options_.connect_seconds * 1e9));
    TcpStream server = co_await timeout(patience, connect());
    Limit there(options_.rate);
    Limit back(options_.rate);
    Task<> request = forward(client, server, there, total_);
    Task<> response = forward(server, client, back, total_);
    co_await when_all(std::move(request), std::move(response));
    co_await server.close();
  }

 private:
  Task<TcpStream> connect() { co_return co_await TcpStream::connect(target_); }

  ProxyOptions options_;
  Address target_;
  Limit total_;
};

/// "host:port", "[::1]:port": resolved once, at the start.
Address target_of(const std::string& text) {
  if (const auto address = Address::try_parse(text)) return *address;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    throw std::invalid_argument("--to: expected HOST:PORT, found " + text);
  Executor executor;
  const auto look_up = [](std::string host, std::string service) -> Task<Address> {
    const std::vector<Address> found = co_await resolve(host, service);
    co_return found.at(0);
  };
  Handle<Address> found = executor.submit({}, look_up, text.substr(0, colon), text.substr(colon + 1));
  executor.run();
  return found.take();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Forwards TCP connections, half-closes included, at a limited rate where wanted.",
               "bide-proxy");
  bide_serving::ServerOptions server_options;
  ProxyOptions options;
  bide_serving::add_options(app, server_options, "--listen");
  app.add_option("--to", options.to, "HOST:PORT to forward to")->required();
  app.add_option("--rate", options.rate, "Bytes a second for each direction of a connection; 0: no limit")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--total-rate", options.total_rate, "Bytes a second for all together; 0: no limit")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--connect-timeout", options.connect_seconds, "Seconds that a connect may take")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 86'400.0));
  return bide_serving::run_program(app, argc, argv, [&] {
    Proxy proxy(options, target_of(options.to));
    bide_serving::Server server(server_options);
    return bide_serving::run_server(
        server, "bide-proxy",
        [&proxy](TcpStream& client, bide_serving::Server::Connection&) { return proxy.serve(client); });
  });
}
