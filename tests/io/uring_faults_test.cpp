#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "uring_request.hpp"

// Full queues, operations that the kernel ends, signals, and what is in flight at the end.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

constexpr DriverOptions tiny{.submission_entries = 4, .completion_entries = 8};

Task<> polls(int on, Results& results) {
  results.push_back(co_await Request(Kind::poll, {.descriptor = on, .flags = POLLIN}));
}

Task<> writes_a_byte(int to, Duration after) {
  co_await Sleep(after);
  char byte = 'x';
  static_cast<void>(co_await Request(Kind::write, {.descriptor = to, .memory = &byte, .length = 1}));
}

TEST_CASE("UringDriver: 10,000 requests at once on a tiny ring all complete once, through overflows") {
  UringExecutor uring(tiny);
  const Ends pipe(pipe_ends());
  Results results;
  constexpr std::size_t many = 10'000;
  results.reserve(many);
  for (std::size_t i = 0; i < many; ++i) uring.executor.submit(polls(pipe.first, results));
  uring.executor.submit(writes_a_byte(pipe.second, 1ms));
  uring.executor.run();
  CHECK(results == Results(many, POLLIN));
  CHECK(uring.statistics().overflows > 0);
  CHECK(uring.statistics().queue_full > 9000);
  CHECK(uring.statistics().completed == many + 1);
}

TEST_CASE("UringDriver: an accept that repeats gives each connection, and ends when it is cancelled") {
  for (const auto multishot : {DriverOptions::Use::if_there, DriverOptions::Use::never}) {
    UringExecutor uring({.multishot = multishot});
    const Listener listener;
    Repeating accept(Kind::accept, listener.descriptor);
    uring.driver().start(accept);
    std::vector<int> clients;
    for (int i = 0; i < 10; ++i) clients.push_back(listener.connect());
    uring.executor.submit(sleeps(2ms));
    uring.executor.run();
    const bool repeats = multishot == DriverOptions::Use::if_there;
    CHECK(accept.results.size() == (repeats ? 10U : 1U));
    CHECK(accept.ended == !repeats);
    if (repeats) {
      uring.driver().cancel(accept);
      uring.executor.submit(sleeps(2ms));
      uring.executor.run();
      CHECK(accept.results.back() == -ECANCELED);
      CHECK(accept.ended);
    }
    for (const std::int64_t accepted : accept.results)
      if (accepted >= 0) ::close(static_cast<int>(accepted));
    for (const int client : clients) ::close(client);
  }
}

TEST_CASE("UringDriver: an accept that repeats tells EMFILE once, as its last result") {
  UringExecutor uring;
  const Listener listener;
  std::vector<int> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(listener.connect());
  const int highest = ::dup(0);
  ::close(highest);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit low{static_cast<rlim_t>(highest), before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &low);
  Repeating accept(Kind::accept, listener.descriptor);
  uring.driver().start(accept);
  uring.executor.submit(sleeps(5ms));
  uring.executor.run();
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(accept.results == Results{-EMFILE});
  CHECK(accept.ended);
  for (const int client : clients) ::close(client);
}

Task<> copies_through(int to, int from, std::size_t bytes, std::string& got) {
  std::string text(bytes, 'x');
  while (got.size() < bytes) {
    const std::int64_t written = co_await Request(
        Kind::write,
        {.descriptor = to, .memory = text.data(), .length = std::min<std::size_t>(4096, bytes - got.size())});
    if (written <= 0) co_return;
    std::array<char, 4096> into{};
    const std::int64_t read =
        co_await Request(Kind::read, {.descriptor = from, .memory = into.data(), .length = into.size()});
    if (read <= 0) co_return;
    got.append(into.data(), static_cast<std::size_t>(read));
  }
}

int signals_seen = 0;

TEST_CASE("UringDriver: signals at 1 kHz interrupt waits, and no operation fails") {
  struct sigaction act {};
  struct sigaction before {};
  act.sa_handler = [](int) { ++signals_seen; };
  ::sigaction(SIGALRM, &act, &before);
  const itimerval every{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  {
    UringExecutor uring;
    const Ends pipe(pipe_ends());
    const Ends idle(socket_ends());
    std::string got;
    Results results;
    Handle<> waits = uring.executor.submit(receives(idle.first, results));
    uring.executor.submit(copies_through(pipe.second, pipe.first, std::size_t{1} << 20U, got));
    uring.executor.run_for(100ms);
    CHECK(got.size() == std::size_t{1} << 20U);
    CHECK(uring.statistics().interrupted > 0);
    CHECK(results.empty());
    waits.cancel();
    uring.executor.run();
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  CHECK(signals_seen > 20);
}

TEST_CASE("UringDriver: a post from another OS thread wakes it, and then it rests") {
  for (const auto multishot : {DriverOptions::Use::if_there, DriverOptions::Use::never}) {
    UringExecutor uring({.multishot = multishot});
    bool ran = false;
    const Poster poster = uring.executor.poster();
    std::thread other([&poster, &ran] {
      std::this_thread::sleep_for(5ms);
      poster.post([&ran] { ran = true; });
    });
    uring.executor.submit(sleeps(100ms));
    uring.executor.run();
    other.join();
    CHECK(ran);
    CHECK(uring.statistics().wakes >= 1);
    CHECK(uring.statistics().enters < 10);
  }
}

/// Ends with the driver; counts how often it was told.
class Left final : public Operation {
 public:
  using Operation::Operation;
  void completed() noexcept override {
    if (more) return;
    ++ends;
    last = result;
  }
  int ends = 0;
  std::int64_t last = 0;
};

TEST_CASE("UringDriver: the destructor cancels whatever is in flight, and each is told its end once") {
  for (const Way& way : all_ways()) {
    INFO(way.name);
    const Ends sockets(socket_ends());
    const Ends tcp(tcp_ends());
    const Ends pipe(pipe_ends());
    const Listener listener;
    std::array<char, 64> memory{};
    std::vector<std::unique_ptr<Left>> all;
    {
      UringExecutor uring(way.options);
      const auto add = [&](Kind kind, int descriptor) -> Left& {
        all.push_back(std::make_unique<Left>(kind));
        all.back()->descriptor = descriptor;
        all.back()->memory = memory.data();
        all.back()->length = 1;
        all.back()->flags = kind == Kind::poll ? POLLIN : 0;
        return *all.back();
      };
      for (int i = 0; i < 20; ++i) {
        uring.driver().start(add(Kind::receive, sockets.first));
        uring.driver().start(add(Kind::poll, sockets.first));
        uring.driver().start(add(Kind::read, pipe.first));
        Left& accept = add(Kind::accept, listener.descriptor);
        accept.repeats = true;
        uring.driver().start(accept);
        Left& receive = add(Kind::receive, tcp.first);
        receive.repeats = receive.takes_buffer = true;
        uring.driver().start(receive);
        if (i == 10) {
          uring.executor.submit(sleeps(1ms));
          uring.executor.run();
        }
      }
      uring.driver().cancel(*all.front());
    }
    for (const auto& one : all) {
      CHECK(one->ends == 1);
      CHECK(one->last == -ECANCELED);
    }
  }
}

}  // namespace
