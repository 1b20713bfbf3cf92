// An echo server on io_uring: the best set-up, one enter a turn, one-shot requests. Serves until it is killed.

#include <liburing.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <bide/bench/raw_ring.hpp>

#include "listening.hpp"

namespace {

struct Connection {
  int descriptor = -1;
  bool sends = false;
  std::array<char, 4096> bytes{};
};

class Server {
 public:
  Server() : listener_(bide::bench::listen_and_print_port()) {}

  void run() {
    accept();
    for (;;) ring_.turn([this](void* data, int result) { answered(static_cast<Connection*>(data), result); });
  }

 private:
  void accept() {
    io_uring_sqe* const wanted = ring_.request();
    io_uring_prep_accept(wanted, listener_, nullptr, nullptr, SOCK_CLOEXEC);
    wanted->user_data = 0;
  }
  void receive(Connection* connection) {
    connection->sends = false;
    io_uring_sqe* const wanted = ring_.request();
    io_uring_prep_recv(wanted, connection->descriptor, connection->bytes.data(), connection->bytes.size(), 0);
    wanted->user_data = reinterpret_cast<std::uintptr_t>(connection);
  }
  void send(Connection* connection, int size) {
    connection->sends = true;
    io_uring_sqe* const wanted = ring_.request();
    io_uring_prep_send(wanted, connection->descriptor, connection->bytes.data(),
                       static_cast<std::size_t>(size), MSG_NOSIGNAL);
    wanted->user_data = reinterpret_cast<std::uintptr_t>(connection);
  }
  void answered(Connection* connection, int result) {
    if (connection == nullptr) {
      if (result < 0) std::abort();
      bide::bench::send_at_once(result);
      auto* const made = new Connection;
      made->descriptor = result;
      receive(made);
      return accept();
    }
    if (connection->sends) return receive(connection);
    if (result > 0) return send(connection, result);
    ::close(connection->descriptor);
    delete connection;
  }

  int listener_;
  bide::bench::RawRing ring_{1024, 32768};
};

}  // namespace

int main() { Server().run(); }
