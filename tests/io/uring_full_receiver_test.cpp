#include <sys/un.h>
#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "uring_request.hpp"

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

/// A Unix datagram socket without a name, and one that is full.
class FullReceiver {
 public:
  FullReceiver() {
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "bide-full-receiver-%d", ::getpid());
    if (::bind(receiver, to(), sizeof address) != 0) std::abort();
    while (::sendto(sender, "x", 1, MSG_DONTWAIT, to(), sizeof address) == 1) ++waiting;
  }
  FullReceiver(const FullReceiver&) = delete;
  FullReceiver& operator=(const FullReceiver&) = delete;
  ~FullReceiver() {
    ::close(sender);
    ::close(receiver);
  }
  sockaddr* to() { return reinterpret_cast<sockaddr*>(&address); }

  sockaddr_un address{};
  int receiver = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int sender = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int waiting = 0;
};

Task<> sends_to(FullReceiver& full, std::int64_t& sent) {
  char byte = 'y';
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_name = full.to();
  message.msg_namelen = sizeof full.address;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  sent = co_await Request(Kind::send_message, {.descriptor = full.sender, .memory = &message});
}

TEST_CASE(
    "UringDriver: a send to a full Unix datagram socket waits without turning in circles, on each way down") {
  for (const Way& way : all_ways()) {
    INFO(way.name);
    UringExecutor uring(way.options);
    FullReceiver full;
    CHECK(full.waiting > 0);
    std::int64_t sent = 0;
    std::int64_t never = 0;
    uring.executor.submit(sends_to(full, sent));
    Handle<> cancelled = uring.executor.submit(sends_to(full, never));
    uring.executor.run_for(50ms);
    CHECK(uring.statistics().enters < 100);  // once each 5 ms, and each may take two
    cancelled.cancel();
    while (!cancelled.done()) uring.executor.run_one();
    CHECK(never == 0);
    char byte = 0;
    CHECK(::recv(full.receiver, &byte, 1, 0) == 1);
    uring.executor.run();
    CHECK(sent == 1);
  }
}

}  // namespace
