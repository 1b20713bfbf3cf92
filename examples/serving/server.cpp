#include "server.hpp"

#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include <bide/executor/io/address.hpp>
#include <bide/executor/io/signals.hpp>
#include <bide/executor/scope/timeout.hpp>

namespace bide_serving {

using namespace bide;

namespace {

Address address_of(const ServerOptions& options) {
  const bool bare_ipv6 = options.bind.find(':') != std::string::npos && options.bind.front() != '[';
  const std::string host = bare_ipv6 ? "[" + options.bind + "]" : options.bind;
  return Address::parse(host + ":" + std::to_string(options.port));
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      listener_(TcpListener::bind(address_of(options_))),
      places_(options_.connections, "connections"),
      closed_("no connection") {
  closed_.set();
}

// A connection's place, and its entry among the open ones: until its thread ends, however that ends.
class Server::Counted {
 public:
  Counted(Server& server, std::list<Entry>::iterator entry) : server_(server), entry_(entry) {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    server_.open_.erase(entry_);
    if (server_.open_.empty()) server_.closed_.set();
    server_.places_.release();
  }

 private:
  Server& server_;
  std::list<Entry>::iterator entry_;
};

Task<> Server::connection(TcpStream stream, std::list<Entry>::iterator entry) {
  const Counted counted(*this, entry);
  try {
    co_await serve_(stream, entry->connection);
    co_await stream.close();
  } catch (const std::runtime_error&) {  // std::system_error, TimedOut
    ++counts_.failed;
  }
}

Task<> Server::take_place() {
  while (!places_.try_acquire()) {
    if (!options_.idle_bound) {
      co_await places_.acquire();
      co_return;
    }
    cut_off_idle();
    const bool taken = co_await try_timeout(*options_.idle_bound, places_.acquire());
    if (taken) co_return;
  }
}

void Server::cut_off_idle() {
  Entry* longest = nullptr;
  for (Entry& entry : open_) {
    if (!entry.connection.idle || !entry.handle) continue;
    if (longest == nullptr || entry.connection.idle_since < longest->connection.idle_since) longest = &entry;
  }
  if (longest != nullptr && add_saturating(longest->connection.idle_since, *options_.idle_bound) <= now())
    longest->handle->cancel();
}

Task<> Server::accept_all(TaskGroup& connections) {
  for (;;) {
    co_await take_place();
    std::optional<TcpStream> stream;
    while (!stream) {
      try {
        stream.emplace(co_await listener_.accept());
      } catch (const std::system_error& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
    }
    ++counts_.accepted;
    const auto entry = open_.emplace(open_.end());
    closed_.reset();
    entry->handle.emplace(connections.submit(connection(std::move(*stream), entry), {.name = "connection"}));
  }
}

Task<> Server::until_closed() { co_await closed_.wait(); }

Task<> Server::until_signal(TaskGroup& connections, const char* program) {
  SignalSet signals({SIGINT, SIGTERM});
  Handle<> acceptor = connections.submit(accept_all(connections), {.name = "acceptor"});
  std::printf("%s: ready on %s\n", program, address().to_string().c_str());
  std::fflush(stdout);
  const int signal = co_await signals.next();
  std::fprintf(stderr, "%s: signal %d, %zu connections left\n", program, signal, open_.size());
  ending_ = true;
  acceptor.cancel();
  for (Entry& entry : open_) {
    if (entry.connection.idle) entry.handle->cancel();
  }
  co_await listener_.close();
  const bool all_ended = co_await try_timeout(options_.drain, until_closed());
  if (!all_ended) std::fprintf(stderr, "%s: %zu connections are cut off\n", program, open_.size());
  connections.cancel();
}

Task<> Server::run(const char* program, Serve serve) {
  serve_ = std::move(serve);
  const auto body = [](TaskGroup& connections, Server& server, const char* name) {
    return server.until_signal(connections, name);
  };
  co_await with_task_group(body, std::ref(*this), program);
}

int run_server(Server& server, const char* program, Server::Serve serve) {
  Executor executor({.time = TimeMode::real_time});
  executor.submit(server.run(program, std::move(serve)), {.name = program});
  executor.run();
  return 0;
}

}  // namespace bide_serving
