#include <csignal>
#include <memory>
#include <thread>

#include <catch2/catch.hpp>

#include "../executor/death.hpp"
#include "in_child.hpp"
#include "uring_request.hpp"

// What of a process a ring touches: its children, its signals, its other OS threads.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

Task<> writes(Kind kind, int to, Results& results) {
  char byte = 'x';
  results.push_back(co_await Request(kind, {.descriptor = to, .memory = &byte, .length = 1}));
}

TEST_CASE("UringDriver: a forked child gets an error at once, and its parent loses nothing") {
  UringExecutor uring;
  const Ends ends(socket_ends());
  Results results;
  uring.executor.submit(receives(ends.first, results));
  uring.executor.run_for(1ms);
  for (int turn = 0; turn < 20; ++turn) {
    CHECK(in_child([&] {  // leaves without a word
            return 0;
          }) == 0);
    CHECK(in_child([&] {  // uses the executor: what is in flight fails, as does what is new
            Results mine;
            uring.executor.submit(writes(Kind::send, ends.second, mine));
            uring.executor.run();
            return results == Results{-EPERM} && mine == Results{-EPERM} ? 0 : 1;
          }) == 0);
  }
  CHECK(results.empty());
  CHECK(in_child([&] {
          uring.executor.stop();
          uring.executor.run();
          return results.empty() ? 0 : 1;
        }) == 0);
  Results sent;
  uring.executor.submit(writes(Kind::send, ends.second, sent));
  uring.executor.run();
  CHECK(results == Results{1});
  CHECK(sent == Results{1});
}

TEST_CASE("UringDriver: a forked child may destroy the executor, and make one of its own") {
  auto uring = std::make_unique<UringExecutor>();
  const Ends ends(socket_ends());
  Results results;
  uring->executor.submit(receives(ends.first, results));
  uring->executor.run_for(1ms);
  CHECK(in_child([&] {
          uring.reset();
          UringExecutor own;
          return works(own) ? 0 : 1;
        }) == 0);
  Results sent;
  uring->executor.submit(writes(Kind::send, ends.second, sent));
  uring->executor.run();
  CHECK(results == Results{1});
}

int signals_seen = 0;

TEST_CASE("UringDriver: a write that nobody reads is EPIPE, without a signal, and the mask comes back") {
  for (const bool was_blocked : {false, true}) {
    struct sigaction act {};
    struct sigaction before {};
    act.sa_handler = [](int) { ++signals_seen; };
    ::sigaction(SIGPIPE, &act, &before);
    sigset_t pipe_alone;
    sigemptyset(&pipe_alone);
    sigaddset(&pipe_alone, SIGPIPE);
    if (was_blocked) ::pthread_sigmask(SIG_BLOCK, &pipe_alone, nullptr);
    for (const Way& way : all_ways()) {
      INFO(way.name);
      Results results;
      {
        UringExecutor uring(way.options);
        Ends pipe(pipe_ends(), &uring.driver());
        Ends sockets(socket_ends(), &uring.driver());
        Ends tcp(tcp_ends(), &uring.driver());
        pipe.close(pipe.first);
        sockets.close(sockets.first);
        const linger reset{1, 0};
        ::setsockopt(tcp.first, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        tcp.close(tcp.first);
        const auto ask = [&](Kind kind, int to) {
          uring.executor.submit(writes(kind, to, results));
          uring.executor.run();
        };
        ask(Kind::write, pipe.second);
        ask(Kind::send, sockets.second);
        ask(Kind::write, sockets.second);
        ask(Kind::send, tcp.second);
        ask(Kind::send, tcp.second);
        ask(Kind::write, tcp.second);
      }
      CHECK(results.at(0) == -EPIPE);
      CHECK(results.at(1) == -EPIPE);
      CHECK(results.at(2) == -EPIPE);
      CHECK((results.at(3) == -ECONNRESET || results.at(3) == -EPIPE));
      CHECK(results.at(4) == -EPIPE);
      CHECK(results.at(5) == -EPIPE);
    }
    sigset_t now;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
    CHECK((sigismember(&now, SIGPIPE) == 1) == was_blocked);
    ::pthread_sigmask(SIG_UNBLOCK, &pipe_alone, nullptr);
    CHECK(signals_seen == 0);
    ::sigaction(SIGPIPE, &before, nullptr);
  }
}

TEST_CASE("UringDriver: another OS thread must not use it") {
  const Death death = death_of([] {
    UringExecutor uring;
    bool done = false;
    uring.executor.submit(opens_and_closes(done));
    std::thread([&] { uring.executor.run(); }).join();
  });
  CHECK(death.aborted);
  CHECK(death.said.find("used by another OS thread than the one that made it") != std::string::npos);
}

TEST_CASE("UringDriver: another OS thread may destroy it, and one of its own goes on") {
  UringExecutor own;
  std::unique_ptr<UringExecutor> other;
  std::thread([&] {
    other = std::make_unique<UringExecutor>();
    CHECK(works(*other));
  }).join();
  other.reset();
  CHECK(works(own));
}

}  // namespace
