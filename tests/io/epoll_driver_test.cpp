#include <poll.h>
#include <sys/wait.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/choose_driver.hpp>

#include "raw_call.hpp"
#include "temporary_folder.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;
using Kind = Operation::Kind;

namespace {

using Log = std::vector<std::string>;

ExecutorOptions epoll(DriverOptions io = {}) {
  io.choice = DriverOptions::Choice::epoll;
  ExecutorOptions options;
  options.io = io;
  return options;
}

Task<> receives(int descriptor, std::string name, Log& log) {
  std::array<char, 64> memory{};
  try {
    const std::int64_t result = co_await RawCall(receiving(descriptor, memory));
    log.push_back(
        name + ": " +
        (result > 0 ? std::string(memory.data(), static_cast<std::size_t>(result)) : std::to_string(result)));
  } catch (const Cancelled&) {
    log.push_back(name + ": cancelled");
  }
}

Task<> sends(int descriptor, std::string text, Log& log) {
  const std::int64_t result = co_await RawCall(sending(descriptor, text));
  log.push_back("sent " + std::to_string(result));
}

Task<> polls(int descriptor, std::uint32_t events, Log& log) {
  try {
    log.push_back("polled " + std::to_string(co_await RawCall(polling(descriptor, events))));
  } catch (const Cancelled&) {
    log.push_back("cancelled");
  }
}

Task<> calls(Request request, std::int64_t& result) { result = co_await RawCall(request); }

/// In flight on its own, as an object's repeating receive is; tells how it ended.
struct Orphan final : Operation {
  Orphan(const Request& request, Log& told) : Operation(request.kind), log(told) { fill(*this, request); }
  void completed() noexcept override { log.push_back(std::to_string(result)); }
  Log& log;
};

}  // namespace

TEST_CASE("EpollDriver: a receive waits for what comes") {
  const Ends ends = Ends::sockets();
  Executor executor(epoll());
  Log log;
  executor.submit(receives(ends[0], "a", log));
  executor.submit(sends(ends[1], "hello", log));
  executor.run();
  CHECK(log == Log{"sent 5", "a: hello"});
  const DriverStatistics counts = executor.driver()->statistics();
  CHECK(counts.started == 2);
  CHECK(counts.completed == 2);
}

TEST_CASE("EpollDriver: receives on one descriptor complete in the order started") {
  const Ends ends = Ends::sockets(SOCK_SEQPACKET);
  Executor executor(epoll());
  Log log;
  for (const char* name : {"a", "b", "c"}) executor.submit(receives(ends[0], name, log));
  for (const char* text : {"1", "2", "3"}) executor.submit(sends(ends[1], text, log));
  executor.run();
  CHECK(log == Log{"sent 1", "sent 1", "sent 1", "a: 1", "b: 2", "c: 3"});
}

TEST_CASE("EpollDriver: a cancelled receive lets the next one through, and takes nothing") {
  const Ends ends = Ends::sockets();
  Executor executor(epoll());
  Log log;
  Handle<> first = executor.submit(receives(ends[0], "a", log));
  executor.submit(receives(ends[0], "b", log));
  executor.post([&first] { first.cancel(); });
  executor.submit({.name = "writer"}, [&]() -> Task<> {
    co_await Sleep(1ms);
    co_await sends(ends[1], "x", log);
  });
  executor.run();
  CHECK(log == Log{"a: cancelled", "sent 1", "b: x"});
}

TEST_CASE("EpollDriver: a pipe's flags stay as they are, and a full one waits") {
  const Ends ends = Ends::pipe();
  Executor executor(epoll());
  const std::string much(200'000, 'x');
  std::size_t written = 0;
  std::size_t read = 0;
  executor.submit({}, [&]() -> Task<> {
    while (written < much.size()) {
      const std::int64_t result = co_await RawCall(writing(ends[1], std::string_view(much).substr(written)));
      if (result <= 0) co_return;
      written += static_cast<std::size_t>(result);
    }
  });
  executor.submit({}, [&]() -> Task<> {
    std::array<char, 5000> memory{};
    while (read < much.size()) {
      const std::int64_t result = co_await RawCall(reading(ends[0], memory));
      if (result <= 0) co_return;
      read += static_cast<std::size_t>(result);
    }
  });
  executor.run();
  CHECK(written == much.size());
  CHECK(read == much.size());
  CHECK((::fcntl(ends[0], F_GETFL) & O_NONBLOCK) == 0);
  CHECK((::fcntl(ends[1], F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("EpollDriver: a poll of a descriptor that was closed without a word and is another now") {
  Executor executor(epoll());
  Log log;
  for (int round = 0; round < 3; ++round) {
    Ends ends = Ends::pipe();
    const int number = ends[0];
    executor.submit(polls(number, POLLIN, log));
    executor.submit({}, [&]() -> Task<> { co_await RawCall(writing(ends[1], "x")); });
    executor.run();
    driver_of(executor).closing(ends[1]);
  }
  CHECK(log == Log{"polled 1", "polled 1", "polled 1"});
}

TEST_CASE("EpollDriver: polls of one descriptor come true one by one") {
  const Ends ends = Ends::sockets();
  Executor executor(epoll());
  Log log;
  executor.submit(polls(ends[0], POLLIN, log));
  executor.submit(polls(ends[0], POLLRDHUP, log));
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(1ms);
    co_await RawCall(sending(ends[1], "x"));
    co_await Sleep(1ms);
    log.push_back("shutdown");
    ::shutdown(ends[1], SHUT_WR);
  });
  executor.run();
  CHECK(log == Log{"polled 1", "shutdown", "polled " + std::to_string(POLLRDHUP)});
}

TEST_CASE("EpollDriver: a regular file is always ready") {
  const TemporaryFolder folder;
  const int file = ::open(folder.write("file", "").c_str(), O_RDWR | O_CLOEXEC);
  Executor executor(epoll());
  Log log;
  executor.submit(polls(file, POLLIN, log));
  executor.run();
  CHECK(log == Log{"polled 1"});
  ::close(file);
}

TEST_CASE("EpollDriver: a file is written and read at offsets, and ends with 0") {
  const TemporaryFolder folder;
  const int file = ::open(folder.write("file", "").c_str(), O_RDWR | O_CLOEXEC);
  Executor executor(epoll());
  std::array<char, 16> memory{};
  std::vector<std::int64_t> results;
  executor.submit({}, [&]() -> Task<> {
    results.push_back(co_await RawCall(writing(file, "0123456789", 0)));
    results.push_back(co_await RawCall(reading(file, memory, 6)));
    results.push_back(co_await RawCall(reading(file, memory, 10)));
    results.push_back(co_await RawCall({.kind = Kind::sync, .descriptor = file}));
    results.push_back(co_await RawCall({.kind = Kind::close, .descriptor = file}));
  });
  executor.run();
  CHECK(results == std::vector<std::int64_t>{10, 4, 0, 0, 0});
  CHECK(std::string_view(memory.data(), 4) == "6789");
  CHECK(::fcntl(file, F_GETFD) == -1);
}

TEST_CASE(
    "EpollDriver: with no free buffer, receives wait for one in the order in which they came to need it") {
  DriverOptions io;
  io.buffer_count = 1;
  Executor executor(epoll(io));
  const Ends first = Ends::sockets();
  const Ends second = Ends::sockets();
  const Ends idle = Ends::sockets();
  Log log;
  std::vector<std::uint16_t> taken;
  const auto takes = [&](int descriptor, const char* name) -> Task<> {
    RawCall call({.kind = Kind::receive, .descriptor = descriptor, .takes_buffer = true});
    const std::int64_t result = co_await call;
    log.push_back(name + std::string(": ") + std::to_string(result));
    if (result <= 0) co_return;
    co_await Sleep(1ms);
    log.push_back(std::string("gives back ") + name);
    driver_of(Executor::current()).give_back(call.taken());
  };
  executor.submit({}, takes, idle[0], "idle");
  executor.submit({}, takes, first[0], "first");
  executor.submit({}, takes, second[0], "second");
  executor.submit(sends(first[1], "abc", log));
  executor.submit(sends(second[1], "de", log));
  executor.submit({}, [&]() -> Task<> {
    while (log.size() < 6) co_await Sleep(1ms);
    ::shutdown(idle[1], SHUT_WR);
  });
  executor.run();
  CHECK(log ==
        Log{"sent 3", "sent 2", "first: 3", "gives back first", "second: 2", "gives back second", "idle: 0"});
  CHECK(executor.driver()->statistics().out_of_buffers == 1);
}

TEST_CASE("EpollDriver: its end cancels and tells what is in flight") {
  const Ends ends = Ends::sockets();
  const Ends pipe = Ends::pipe();
  Log log;
  std::array<char, 8> memory{};
  Orphan receive(receiving(ends[0], memory), log);
  Orphan poll(polling(pipe[0], POLLIN), log);
  Orphan buffered({.kind = Kind::receive, .descriptor = ends[1], .takes_buffer = true}, log);
  {
    Executor executor(epoll());
    Driver& driver = driver_of(executor);
    driver.start(receive);
    driver.start(poll);
    driver.start(buffered);
    CHECK(log.empty());
  }
  CHECK(log == Log(3, std::to_string(-ECANCELED)));
}

TEST_CASE("EpollDriver: SIGPIPE does not come, and EPIPE does") {
  static volatile std::sig_atomic_t signals = 0;
  const auto before = std::signal(SIGPIPE, [](int) { signals = signals + 1; });
  Ends pipe = Ends::pipe();
  Ends sockets = Ends::sockets();
  pipe.close(0);
  sockets.close(0);
  std::int64_t written = 0;
  std::int64_t sent = 0;
  {
    Executor executor(epoll());
    executor.submit(calls(writing(pipe[1], "x"), written));
    executor.submit(calls(sending(sockets[1], "x"), sent));
    executor.run();
  }
  std::signal(SIGPIPE, before);
  CHECK(written == -EPIPE);
  CHECK(sent == -EPIPE);
  CHECK(signals == 0);
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGPIPE) == 0);
}

TEST_CASE("EpollDriver: in a forked child all fails at once, and the parent's reads go on") {
  const Ends ends = Ends::sockets();
  Executor executor(epoll());
  Log log;
  executor.submit(receives(ends[0], "parent", log));
  executor.run_for(0ms);
  const pid_t child = ::fork();
  if (child == 0) {
    std::int64_t result = 0;
    executor.submit(calls(sending(ends[1], "from the child"), result));
    executor.run();
    ::_exit(result == -EPERM && log == Log{"parent: -1"} ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  executor.submit(sends(ends[1], "still here", log));
  executor.run();
  CHECK(log == Log{"sent 10", "parent: still here"});
}
