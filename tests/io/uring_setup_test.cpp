#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include <catch2/catch.hpp>

#include <grp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../contract/refuse_calls.hpp"
#include "../executor/death.hpp"
#include "uring_request.hpp"

// Rings that can't be had, many of them, and what of a process they touch: forks, signals, descriptors.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

using Results = std::vector<std::int64_t>;

Task<> receives(int from, Results& results) {
  std::array<char, 16> into{};
  results.push_back(
      co_await Request(Kind::receive, {.descriptor = from, .memory = into.data(), .length = into.size()}));
}

Task<> writes(Kind kind, int to, Results& results) {
  char byte = 'x';
  results.push_back(co_await Request(kind, {.descriptor = to, .memory = &byte, .length = 1}));
}

Task<> opens(std::int64_t& result) {
  std::string path = "/dev/null";
  result = co_await Request(Kind::open, {.memory = path.data(), .flags = O_RDONLY});
}

/// Runs the function in a forked process. Returns: what it returned, or -1 if a signal ended it.
template <class F>
int in_child(F function) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGABRT, SIGSEGV, SIGTERM}) std::signal(signal, SIG_DFL);
    int code = 99;
    try {
      code = function();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST_CASE("UringDriver: a thousand executors one after another work, and leave no descriptor") {
  const std::ptrdiff_t before = open_descriptors();
  std::int64_t worked = 0;
  for (int i = 0; i < 1000; ++i) {
    UringExecutor uring;
    std::int64_t opened = -1;
    uring.executor.submit(opens(opened));
    uring.executor.run();
    if (opened >= 0) ++worked;
    ::close(static_cast<int>(opened));
  }
  CHECK(worked == 1000);
  CHECK(open_descriptors() == before);
}

// A user of this process's own: locked memory is counted by user, also what others have, or have had a moment ago.
bool become_stranger(rlim_t locked_bytes) {
  const auto stranger = static_cast<uid_t>(1'000'000 + ::getpid());
  const rlimit locked{locked_bytes, locked_bytes};
  return ::setrlimit(RLIMIT_MEMLOCK, &locked) == 0 && ::setgroups(0, nullptr) == 0 &&
         ::setresgid(stranger, stranger, stranger) == 0 && ::setresuid(stranger, stranger, stranger) == 0;
}

TEST_CASE("UringDriver: a user without privileges makes a thousand executors one after another") {
  if (::getuid() != 0) return;  // nobody else can become another user
  CHECK(in_child([] {
          if (!become_stranger(rlim_t{8} << 20U)) return 1;
          for (int i = 0; i < 1000; ++i) {
            UringExecutor uring;
            std::int64_t opened = -1;
            uring.executor.submit(opens(opened));
            uring.executor.run();
            if (opened < 0) return 2;
            ::close(static_cast<int>(opened));
          }
          return 0;
        }) == 0);
}

TEST_CASE("UringDriver: where locked memory is short, the ring is smaller, or the error names the limit") {
  if (::getuid() != 0) return;
  CHECK(in_child([] {
          if (!become_stranger(64U << 10U)) return 1;
          try {
            UringExecutor uring({.submission_entries = 4096, .completion_entries = 32768});
            std::int64_t opened = -1;
            uring.executor.submit(opens(opened));
            uring.executor.run();
            return opened >= 0 ? 0 : 2;
          } catch (const std::system_error& error) {
            return error.code().value() == ENOMEM ? 3 : 4;
          }
        }) == 0);
  CHECK(in_child([] {
          if (!become_stranger(4096)) return 1;
          try {
            UringExecutor uring;
          } catch (const std::system_error& error) {
            const std::string text = error.what();
            const bool named = text.find("RLIMIT_MEMLOCK is 4096 bytes") != std::string::npos;
            return named && error.code().value() == ENOMEM ? 0 : 2;
          }
          return 3;
        }) == 0);
}

/// What a ring's set-up says in a process that may not make this call; nothing where it succeeds.
std::string said_without(unsigned call, unsigned error) {
  const Death child = death_of([=] {
    if (!refuse_calls({call}, error)) return;
    try {
      UringExecutor uring;
    } catch (const std::system_error& refusal) {
      std::fputs(refusal.what(), stderr);
    }
  });
  return child.said;
}

TEST_CASE("UringDriver: where a filter forbids a call, the error names it") {
  const auto says = [](unsigned call, unsigned error, const char* text) {
    return said_without(call, error).find(text) != std::string::npos;
  };
  CHECK(
      says(SYS_io_uring_setup, EPERM, "forbidden to this process, as by the seccomp filter of a container"));
  CHECK(says(SYS_io_uring_register, EPERM, "io_uring_register is forbidden to this process"));
  CHECK(says(SYS_io_uring_register, ENOSYS, "io_uring_register is forbidden to this process"));
  CHECK(says(SYS_io_uring_enter, EPERM, "io_uring_enter is forbidden to this process"));
}

TEST_CASE("UringDriver: a set-up that fails at any descriptor leaks none, and the next try works") {
  CHECK(in_child([] {
          const std::ptrdiff_t before = open_descriptors();
          const int free = ::dup(0);
          ::close(free);
          rlimit limit{};
          ::getrlimit(RLIMIT_NOFILE, &limit);
          int refusals = 0;
          bool made = false;
          for (int more = 0; more < 8 && !made; ++more) {
            const rlimit low{static_cast<rlim_t>(free + more), limit.rlim_max};
            ::setrlimit(RLIMIT_NOFILE, &low);
            for (int twice = 0; twice < 2; ++twice) {
              try {
                UringExecutor uring({.registered_descriptors = 1024});
                made = true;
              } catch (const std::system_error& error) {
                ++refusals;
                if (error.code().value() != EMFILE) return 1;
              }
            }
            ::setrlimit(RLIMIT_NOFILE, &limit);
            if (open_descriptors() != before) return 2;
          }
          return made && refusals >= 2 ? 0 : 3;
        }) == 0);
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
          std::int64_t opened = -1;
          own.executor.submit(opens(opened));
          own.executor.run();
          return opened >= 0 ? 0 : 1;
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
    std::int64_t opened = -1;
    uring.executor.submit(opens(opened));
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
    std::int64_t opened = -1;
    other->executor.submit(opens(opened));
    other->executor.run();
    ::close(static_cast<int>(opened));
  }).join();
  other.reset();
  std::int64_t opened = -1;
  own.executor.submit(opens(opened));
  own.executor.run();
  CHECK(opened >= 0);
  ::close(static_cast<int>(opened));
}

TEST_CASE("UringDriver: a registered descriptor is let go when its number is closed and used again") {
  UringExecutor uring({.registered_descriptors = 64});
  Results results;
  for (int turn = 0; turn < 100; ++turn) {
    Ends ends(socket_ends(), &uring.driver());
    uring.executor.submit(receives(ends.first, results));
    uring.executor.submit(writes(Kind::send, ends.second, results));
    uring.executor.run();
    char byte = 0;
    ends.close(ends.first);
    CHECK(::recv(ends.second, &byte, 1, MSG_DONTWAIT) == 0);  // nothing holds the other end open
  }
  CHECK(results == Results(200, 1));
}

TEST_CASE("UringDriver: twenty on one OS thread work side by side") {
  std::vector<std::unique_ptr<UringExecutor>> all;
  for (int i = 0; i < 20; ++i) all.push_back(std::make_unique<UringExecutor>());
  for (const auto& one : all) {
    std::int64_t opened = -1;
    one->executor.submit(opens(opened));
    one->executor.run();
    CHECK(opened >= 0);
    ::close(static_cast<int>(opened));
  }
}

}  // namespace
