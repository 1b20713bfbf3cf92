#pragma once

// What the drivers are held against: servers written by hand for one measurement, and the load for all of them.

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bide::bench {

inline void expect(bool condition) {
  if (!condition) std::abort();
}

/// Connections over the loopback, and a client that keeps one message in flight on each.
class EchoLoad {
 public:
  EchoLoad(std::size_t connections, std::int64_t each, std::size_t bytes)
      : each_(each), bytes_(bytes), message_(bytes, 'x'), clients_(connections), served_(connections) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    expect(::bind(listener, plain, length) == 0 && ::listen(listener, 16) == 0);
    expect(::getsockname(listener, plain, &length) == 0);
    for (std::size_t i = 0; i < connections; ++i) {
      clients_[i] = {::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), each, 0};
      expect(::connect(clients_[i].descriptor, plain, sizeof address) == 0);
      served_[i] = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      expect(served_[i] >= 0);
      constexpr int on = 1;
      ::setsockopt(clients_[i].descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      ::setsockopt(served_[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ::close(listener);
  }
  EchoLoad(const EchoLoad&) = delete;
  EchoLoad& operator=(const EchoLoad&) = delete;

  /// The server's ends, which the server closes.
  const std::vector<int>& served() const { return served_; }

  /// On an OS thread of its own: closes each connection after its last answer.
  void run() {
    const int set = ::epoll_create1(EPOLL_CLOEXEC);
    for (Client& client : clients_) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = &client;
      ::epoll_ctl(set, EPOLL_CTL_ADD, client.descriptor, &event);
      ask(client);
    }
    std::array<epoll_event, 256> events{};
    for (std::size_t live = clients_.size(); live > 0;) {
      const int count = ::epoll_wait(set, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i)
        if (answered(*static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr))) --live;
    }
    ::close(set);
  }

 private:
  struct Client {
    int descriptor = -1;
    std::int64_t left = 0;
    std::size_t got = 0;
  };

  void ask(const Client& client) {
    expect(::send(client.descriptor, message_.data(), bytes_, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes_));
  }

  // True: that was its last.
  bool answered(Client& client) {
    std::array<char, 4096> into;
    const ssize_t size = ::recv(client.descriptor, into.data(), into.size(), 0);
    expect(size > 0);
    client.got += static_cast<std::size_t>(size);
    if (client.got < bytes_) return false;
    client.got = 0;
    if (--client.left > 0) {
      ask(client);
      return false;
    }
    ::close(client.descriptor);
    return true;
  }

  std::int64_t each_;
  std::size_t bytes_;
  std::vector<char> message_;
  std::vector<Client> clients_;
  std::vector<int> served_;
};

/// A ring with the best set-up, one enter a turn, and one-shot requests.
class RawRing {
 public:
  explicit RawRing(unsigned entries) {
    io_uring_params wanted{};
    wanted.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    wanted.cq_entries = 4096;
    expect(io_uring_queue_init_params(entries, &ring_, &wanted) == 0);
    io_uring_register_ring_fd(&ring_);
  }
  ~RawRing() { io_uring_queue_exit(&ring_); }
  RawRing(const RawRing&) = delete;
  RawRing& operator=(const RawRing&) = delete;

  io_uring_sqe* request(void* data) {
    io_uring_sqe* request = io_uring_get_sqe(&ring_);
    if (request == nullptr) {
      io_uring_submit(&ring_);
      request = io_uring_get_sqe(&ring_);
    }
    request->user_data = reinterpret_cast<std::uintptr_t>(data);
    return request;
  }
  void poll(int on, void* data) {
    io_uring_sqe* const wanted = request(data);
    io_uring_prep_poll_add(wanted, on, POLLIN);
    wanted->user_data = reinterpret_cast<std::uintptr_t>(data);
  }

  /// Submits, waits for at least one answer, and calls `answered(data, result)` for each.
  template <class Answered>
  void turn(Answered answered) {
    io_uring_submit_and_wait(&ring_, 1);
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* answer = nullptr;
    io_uring_for_each_cqe(&ring_, head, answer) {
      answered(reinterpret_cast<void*>(static_cast<std::uintptr_t>(answer->user_data)), answer->res);
      ++count;
    }
    io_uring_cq_advance(&ring_, count);
  }

 private:
  io_uring ring_{};
};

struct RawConnection {
  int descriptor = -1;
  bool sends = false;
  std::array<char, 256> bytes{};
};

/// Closes each descriptor at its end.
inline void raw_uring_echo(RawRing& ring, const std::vector<int>& descriptors) {
  std::vector<RawConnection> connections(descriptors.size());
  const auto receive = [&ring](RawConnection& connection) {
    connection.sends = false;
    io_uring_sqe* const wanted = ring.request(&connection);
    io_uring_prep_recv(wanted, connection.descriptor, connection.bytes.data(), connection.bytes.size(), 0);
    wanted->user_data = reinterpret_cast<std::uintptr_t>(&connection);
  };
  const auto send = [&ring](RawConnection& connection, int size) {
    connection.sends = true;
    io_uring_sqe* const wanted = ring.request(&connection);
    io_uring_prep_send(wanted, connection.descriptor, connection.bytes.data(), static_cast<std::size_t>(size),
                       MSG_NOSIGNAL);
    wanted->user_data = reinterpret_cast<std::uintptr_t>(&connection);
  };
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    connections[i].descriptor = descriptors[i];
    receive(connections[i]);
  }
  for (std::size_t live = descriptors.size(); live > 0;) {
    ring.turn([&](void* data, int result) {
      auto& connection = *static_cast<RawConnection*>(data);
      if (connection.sends) return receive(connection);
      if (result > 0) return send(connection, result);
      ::close(connection.descriptor);
      --live;
    });
  }
}

/// Level-triggered, one read and one write an event.
inline void raw_epoll_echo(const std::vector<int>& descriptors) {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  for (const int descriptor : descriptors) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    ::epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
  }
  std::array<epoll_event, 256> events{};
  for (std::size_t live = descriptors.size(); live > 0;) {
    const int count = ::epoll_wait(set, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      std::array<char, 256> bytes;
      const ssize_t size = ::recv(descriptor, bytes.data(), bytes.size(), 0);
      if (size > 0) {
        expect(::send(descriptor, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size);
        continue;
      }
      ::close(descriptor);
      --live;
    }
  }
  ::close(set);
}

}  // namespace bide::bench
