#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/semaphore.hpp>

/// What bide-echo, bide-http and bide-proxy share: a listener, a bound on connections, and an orderly end.
namespace bide_serving {

struct ServerOptions {
  std::string bind = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  std::size_t connections = 10'000;
  std::chrono::milliseconds drain = std::chrono::seconds(5);
  /// Where there is no place for a new connection, the one that has been idle for longest is cut off, if that is as long
  /// as this. Unset: none is.
  std::optional<bide::Duration> idle_bound{};
};

struct ServerCounts {
  std::uint64_t accepted = 0;
  std::uint64_t failed = 0;  // connections that ended by an error of the peer or the network
};

/// Accepts connections, and runs a task for each, until SIGINT or SIGTERM comes. Then it accepts no more, and gives
/// those that are open the time of `drain` to end; what is left is cancelled.
///
/// Bounds: at most `connections` at once; further ones wait in the kernel's queue.
class Server {
 public:
  /// Throws: std::invalid_argument, `bind` is no address; std::system_error, it can't be listened on.
  explicit Server(ServerOptions options);

  /// What a server may know of a connection.
  struct Connection {
    bool idle = false;  // nothing is under way: it may be cut off as soon as the server ends
    bide::Instant idle_since{};
  };

  /// `serve(stream, connection)` for each connection. What it throws of the outside's errors, or of a timeout, ends that
  /// connection alone.
  using Serve = std::function<bide::Task<>(bide::TcpStream&, Connection&)>;

  /// `program`: its name, in the one line on stdout when it is ready: "bide-echo: ready on 127.0.0.1:7".
  bide::Task<> run(const char* program, Serve serve);

  bide::Address address() const { return listener_.local_address(); }
  const ServerCounts& counts() const { return counts_; }
  std::size_t open_count() const { return open_.size(); }
  /// It has begun to end: what is under way may be finished, nothing new begun.
  bool ending() const { return ending_; }

 private:
  struct Entry {
    Connection connection;
    std::optional<bide::Handle<>> handle;
  };
  class Counted;

  bide::Task<> take_place();
  void cut_off_idle();
  bide::Task<> accept_all(bide::TaskGroup& connections);
  bide::Task<> connection(bide::TcpStream stream, std::list<Entry>::iterator entry);
  bide::Task<> until_signal(bide::TaskGroup& connections, const char* program);
  bide::Task<> until_closed();

  ServerOptions options_;
  bide::TcpListener listener_;
  bide::Semaphore places_;
  bool ending_ = false;
  std::list<Entry> open_;
  bide::Event closed_;  // set while no connection is open
  ServerCounts counts_;
  Serve serve_;
};

/// Runs `server.run` on an executor in real time. Returns: the program's exit code.
int run_server(Server& server, const char* program, Server::Serve serve);

}  // namespace bide_serving
