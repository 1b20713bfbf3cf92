#include <sys/un.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

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

/// A Unix listener that has no room for another connection.
class FullListener {
 public:
  FullListener() {
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "bide-full-listener-%d", ::getpid());
    if (::bind(listener, to(), sizeof address) != 0 || ::listen(listener, 0) != 0) std::abort();
    for (;;) {
      waiting.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (::connect(waiting.back(), to(), sizeof address) != 0) break;
    }
  }
  FullListener(const FullListener&) = delete;
  FullListener& operator=(const FullListener&) = delete;
  ~FullListener() {
    for (const int client : waiting) ::close(client);
    ::close(listener);
  }
  sockaddr* to() { return reinterpret_cast<sockaddr*>(&address); }

  sockaddr_un address{};
  int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::vector<int> waiting{};
};

Task<> connects_to(FullListener& full, std::string& ended) {
  const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  try {
    const std::int64_t result = co_await Request(
        Kind::connect, {.descriptor = client, .memory = full.to(), .length = sizeof full.address});
    ended = std::to_string(result);
  } catch (const Cancelled&) {
    ended = "cancelled";
  }
  ::close(client);
}

TEST_CASE("UringDriver: a connect to a full Unix listener waits, and can be cancelled, on each way down") {
  for (const Way& way : all_ways()) {
    INFO(way.name);
    UringExecutor uring(way.options);
    FullListener full;
    std::string first;
    std::string second;
    Handle<> cancelled = uring.executor.submit(connects_to(full, first));
    uring.executor.submit(connects_to(full, second));
    uring.executor.run_for(20ms);
    CHECK(first + second == "");
    cancelled.cancel();
    while (!cancelled.done()) uring.executor.run_one();
    CHECK(first == "cancelled");
    ::close(::accept(full.listener, nullptr, nullptr));
    uring.executor.run();
    CHECK(second == "0");
  }
}

}  // namespace
