#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>
#include <string>
#include <utility>

#include "../io/descriptor_count.hpp"
#include "../io/temporary_folder.hpp"

namespace bide::test {

// What a behaviour needs around it, made by plain calls. A failure here ends the program: it is not what is on trial.

inline int checked(int result) {
  if (result < 0) std::abort();
  return result;
}

/// A descriptor that is closed at the end.
class Plain {
 public:
  explicit Plain(int number) : number_(checked(number)) {}
  Plain(Plain&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Plain& operator=(Plain&&) = delete;
  ~Plain() { close(); }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

inline Plain new_socket(int type = SOCK_STREAM) { return Plain(::socket(AF_INET, type | SOCK_CLOEXEC, 0)); }

/// The peer sees a reset.
inline void drop_connection(Plain& end) {
  const linger at_once{1, 0};
  checked(::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  end.close();
}

inline Plain opened(const std::string& path, int flags) {
  return Plain(::open(path.c_str(), flags | O_CLOEXEC, 0600));
}

/// Listens on a port of 127.0.0.1 that the kernel chose.
class PlainListener {
 public:
  explicit PlainListener(int backlog = 16) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    checked(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
    checked(::listen(socket_.get(), backlog));
    socklen_t length = sizeof address;
    checked(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length));
  }
  int get() const { return socket_.get(); }
  void close() { socket_.close(); }
  std::uint16_t port() const { return ntohs(address.sin_port); }
  Plain connected() const {
    Plain client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    checked(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
    return client;
  }
  Plain accepted() const { return Plain(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

  sockaddr_in address{};

 private:
  Plain socket_;
};

/// The two ends of one TCP connection.
struct TcpEnds {
  TcpEnds() : client(listener.connected()), server(listener.accepted()) {}
  PlainListener listener;
  Plain client;
  Plain server;
};

}  // namespace bide::test
