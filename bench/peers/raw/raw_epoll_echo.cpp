// An echo server on epoll, level-triggered: one read and one write an event. Serves until it is killed.

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "listening.hpp"

namespace {

void add(int set, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  if (::epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) != 0) std::abort();
}

void answer(int descriptor) {
  std::array<char, 4096> bytes;
  const ssize_t size = ::recv(descriptor, bytes.data(), bytes.size(), 0);
  if (size <= 0) {
    ::close(descriptor);
  } else if (::send(descriptor, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) != size) {
    std::abort();
  }
}

}  // namespace

int main() {
  const int listener = bide::bench::listen_and_print_port();
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  add(set, listener);
  std::array<epoll_event, 256> events{};
  for (;;) {
    const int count = ::epoll_wait(set, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor != listener) {
        answer(descriptor);
        continue;
      }
      const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted < 0) std::abort();
      bide::bench::send_at_once(accepted);
      add(set, accepted);
    }
  }
}
