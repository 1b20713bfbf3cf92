// An echo server on io_uring: the best set-up, one enter a turn, one-shot requests. Serves until it is killed.

#include <liburing.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "listening.hpp"

namespace {

struct Connection {
  int descriptor = -1;
  bool sends = false;
  std::array<char, 4096> bytes{};
};

class Server {
 public:
  Server() : listener_(bide::bench::listen_and_print_port()) {
    io_uring_params wanted{};
    wanted.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    wanted.cq_entries = 32768;
    if (io_uring_queue_init_params(1024, &ring_, &wanted) != 0) std::abort();
    io_uring_register_ring_fd(&ring_);
  }

  void run() {
    accept();
    for (;;) {
      io_uring_submit_and_wait(&ring_, 1);
      unsigned head = 0;
      unsigned count = 0;
      io_uring_cqe* answer = nullptr;
      io_uring_for_each_cqe(&ring_, head, answer) {
        answered(reinterpret_cast<Connection*>(static_cast<std::uintptr_t>(answer->user_data)), answer->res);
        ++count;
      }
      io_uring_cq_advance(&ring_, count);
    }
  }

 private:
  io_uring_sqe* request() {
    io_uring_sqe* request = io_uring_get_sqe(&ring_);
    if (request == nullptr) {
      io_uring_submit(&ring_);
      request = io_uring_get_sqe(&ring_);
    }
    return request;
  }
  void accept() {
    io_uring_sqe* const wanted = request();
    io_uring_prep_accept(wanted, listener_, nullptr, nullptr, SOCK_CLOEXEC);
    wanted->user_data = 0;
  }
  void receive(Connection* connection) {
    connection->sends = false;
    io_uring_sqe* const wanted = request();
    io_uring_prep_recv(wanted, connection->descriptor, connection->bytes.data(), connection->bytes.size(), 0);
    wanted->user_data = reinterpret_cast<std::uintptr_t>(connection);
  }
  void send(Connection* connection, int size) {
    connection->sends = true;
    io_uring_sqe* const wanted = request();
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
  io_uring ring_{};
};

}  // namespace

int main() { Server().run(); }
