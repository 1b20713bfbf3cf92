// The server that costs least: it sends before it is asked and throws away what comes, in large pieces. What echo_load
// reaches against it is what echo_load can do. Prints its port, and serves until it is killed.

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include <bide/bench/peers/raw/listening.hpp>

namespace {

constexpr std::size_t piece_bytes = 256 * 1024;

// False: the connection has ended.
bool serve(const pollfd& connection, std::vector<char>& piece) {
  if ((connection.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
    const ssize_t came = ::recv(connection.fd, nullptr, piece.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (came == 0 || (came < 0 && errno != EAGAIN)) return false;
  }
  if ((connection.revents & POLLOUT) != 0) {
    const ssize_t sent = ::send(connection.fd, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return false;
  }
  return true;
}

}  // namespace

int main() {
  std::vector<pollfd> polled{{bide::bench::listen_and_print_port(), POLLIN, 0}};
  std::vector<char> piece(piece_bytes);
  for (;;) {
    if (::poll(polled.data(), polled.size(), -1) < 0) std::abort();
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents == 0 || serve(polled[i], piece)) continue;
      ::close(polled[i].fd);
      polled[i].fd = -1;  // which poll passes over
    }
    if ((polled[0].revents & POLLIN) != 0) {
      polled.push_back({::accept4(polled[0].fd, nullptr, nullptr, SOCK_CLOEXEC), POLLIN | POLLOUT, 0});
    }
    ::usleep(500);  // so that each piece is a large one
  }
}
