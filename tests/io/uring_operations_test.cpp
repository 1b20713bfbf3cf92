#include <cstring>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include <poll.h>
#include <sys/uio.h>

#include "temporary_folder.hpp"
#include "uring_request.hpp"

// Each kind of operation, on each way down.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

template <class Body>
void on_each_way(Body body) {
  for (const Way& way : all_ways()) {
    INFO(way.name);
    UringExecutor uring(way.options);
    body(uring);
    CHECK(uring.driver().in_flight() == 0);
    CHECK(uring.statistics().refused_timeouts == 0);
    CHECK(uring.statistics().started == uring.statistics().completed);
  }
}

Task<> transfers(Kind write, Kind read, int from, int to, Results& results) {
  std::array<char, 16> text{"0123456789"};
  std::array<char, 16> got{};
  results.push_back(co_await Request(write, {.descriptor = from, .memory = text.data(), .length = 10}));
  results.push_back(co_await Request(read, {.descriptor = to, .memory = got.data(), .length = 16}));
  results.push_back(std::memcmp(text.data(), got.data(), 10));
}

Task<> reads(int from, Results& results) {
  std::array<char, 16> got{};
  results.push_back(co_await Request(Kind::read, {.descriptor = from, .memory = got.data(), .length = 16}));
}

Task<> writes_later(int to) {
  co_await Sleep(2ms);
  std::array<char, 4> text{"abc"};
  static_cast<void>(co_await Request(Kind::write, {.descriptor = to, .memory = text.data(), .length = 3}));
}

Task<> vectors(int from, int to, Results& results) {
  std::array<char, 4> text{"abc"};
  std::array<iovec, 3> parts{iovec{text.data(), 2}, iovec{nullptr, 0}, iovec{text.data() + 2, 1}};
  results.push_back(
      co_await Request(Kind::write_vector, {.descriptor = from, .memory = parts.data(), .length = 3}));
  std::array<char, 4> got{};
  std::array<iovec, 2> into{iovec{got.data(), 1}, iovec{got.data() + 1, 3}};
  results.push_back(
      co_await Request(Kind::read_vector, {.descriptor = to, .memory = into.data(), .length = 2}));
  results.push_back(std::string(got.data(), 3) == "abc" ? 0 : 1);
}

Task<> messages(int from, int to, Results& results) {
  std::array<char, 4> text{"abc"};
  iovec part{text.data(), 3};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  results.push_back(co_await Request(Kind::send_message, {.descriptor = from, .memory = &message}));
  results.push_back(co_await Request(Kind::receive_message, {.descriptor = to, .memory = &message}));
}

Task<> connects(const Listener& listener, Results& results) {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = listener.address;
  results.push_back(
      co_await Request(Kind::connect, {.descriptor = client, .memory = &address, .length = sizeof address}));
  results.push_back(co_await Request(Kind::close, {.descriptor = client}));
}

Task<> accepts(const Listener& listener, Results& results) {
  const std::int64_t accepted =
      co_await Request(Kind::accept, {.descriptor = listener.descriptor, .flags = SOCK_CLOEXEC});
  results.push_back(accepted > 2 ? 0 : accepted);
  results.push_back(::fcntl(static_cast<int>(accepted), F_GETFD));
  std::array<char, 4> got{};
  results.push_back(co_await Request(
      Kind::receive, {.descriptor = static_cast<int>(accepted), .memory = got.data(), .length = 4}));
  results.push_back(co_await Request(Kind::close, {.descriptor = static_cast<int>(accepted)}));
}

Task<> polls(int on, Results& results) {
  results.push_back(co_await Request(Kind::poll, {.descriptor = on, .flags = POLLIN}));
}

Task<> files(std::string folder, Results& results) {
  std::string path = folder + "/a";
  std::string other = folder + "/b";
  std::array<char, 8> text{"abcdef"};
  std::array<char, 8> got{};
  const auto opened = static_cast<int>(
      co_await Request(Kind::open, {.memory = path.data(), .flags = O_CREAT | O_RDWR, .permissions = 0600}));
  results.push_back(::fcntl(opened, F_GETFD));
  results.push_back(co_await Request(
      Kind::write, {.descriptor = opened, .memory = text.data(), .length = 6, .offset = 100}));
  results.push_back(
      co_await Request(Kind::read, {.descriptor = opened, .memory = got.data(), .length = 8, .offset = 102}));
  results.push_back(co_await Request(Kind::sync, {.descriptor = opened}));
  results.push_back(co_await Request(Kind::sync_data, {.descriptor = opened}));
  results.push_back(co_await Request(Kind::allocate, {.descriptor = opened, .offset = 0, .size = 5000}));
  results.push_back(::lseek(opened, 0, SEEK_END));
  results.push_back(co_await Request(Kind::rename, {.memory = path.data(), .more_memory = other.data()}));
  results.push_back(co_await Request(Kind::unlink, {.memory = other.data()}));
  results.push_back(co_await Request(Kind::unlink, {.memory = other.data()}));
  results.push_back(co_await Request(Kind::close, {.descriptor = opened}));
  results.push_back(co_await Request(Kind::open, {.memory = path.data(), .flags = O_RDONLY}));
}

Task<> takes(int from, std::string& text) {
  for (;;) {
    const std::string part = co_await Shared(from);
    if (part.empty()) break;
    text += part;
  }
}

Task<> sends(int to, std::string text, std::int64_t& sent) {
  while (!text.empty()) {
    const std::int64_t result =
        co_await Request(Kind::send, {.descriptor = to, .memory = text.data(), .length = text.size()});
    if (result <= 0) break;
    sent += result;
    text.erase(0, static_cast<std::size_t>(result));
  }
  ::shutdown(to, SHUT_WR);
}

TEST_CASE("UringDriver: what is written to a pipe or socket is read at its other end, on each way down") {
  on_each_way([](UringExecutor& uring) {
    const Ends pipe(pipe_ends(), &uring.driver());
    const Ends sockets(socket_ends(), &uring.driver());
    const Ends tcp(tcp_ends(), &uring.driver());
    Results results;
    uring.executor.submit(transfers(Kind::write, Kind::read, pipe.second, pipe.first, results));
    uring.executor.run();
    uring.executor.submit(transfers(Kind::send, Kind::receive, sockets.first, sockets.second, results));
    uring.executor.run();
    uring.executor.submit(transfers(Kind::send, Kind::receive, tcp.first, tcp.second, results));
    uring.executor.run();
    uring.executor.submit(vectors(pipe.second, pipe.first, results));
    uring.executor.run();
    uring.executor.submit(messages(sockets.first, sockets.second, results));
    uring.executor.run();
    CHECK(results == Results{10, 10, 0, 10, 10, 0, 10, 10, 0, 3, 3, 0, 3, 3});
  });
}

TEST_CASE(
    "UringDriver: a read waits for what is written later, and a poll for what can be read, on each way "
    "down") {
  on_each_way([](UringExecutor& uring) {
    const Ends pipe(pipe_ends(), &uring.driver());
    Results results;
    uring.executor.submit(polls(pipe.first, results));
    uring.executor.submit(writes_later(pipe.second));
    uring.executor.run();
    uring.executor.submit(reads(pipe.first, results));
    uring.executor.run();
    CHECK(results == Results{POLLIN, 3});
  });
}

TEST_CASE("UringDriver: a descriptor that does not block is waited for all the same, on each way down") {
  on_each_way([](UringExecutor& uring) {
    const Ends pipe(pipe_ends(), &uring.driver());
    ::fcntl(pipe.first, F_SETFL, O_NONBLOCK);
    Results results;
    uring.executor.submit(reads(pipe.first, results));
    uring.executor.submit(writes_later(pipe.second));
    uring.executor.run();
    CHECK(results == Results{3});
  });
}

TEST_CASE("UringDriver: a client connects, is accepted, and its close is seen, on each way down") {
  on_each_way([](UringExecutor& uring) {
    const Listener listener(&uring.driver());
    Results client;
    Results server;
    uring.executor.submit(accepts(listener, server));
    uring.executor.submit(connects(listener, client));
    uring.executor.run();
    CHECK(client == Results{0, 0});
    CHECK(server == Results{0, FD_CLOEXEC, 0, 0});
  });
}

TEST_CASE("UringDriver: a connect that nobody listens to is refused, on each way down") {
  on_each_way([](UringExecutor& uring) {
    Results results;
    {
      Listener listener(&uring.driver());
      listener.close();
      uring.executor.submit(connects(listener, results));
      uring.executor.run();
    }
    CHECK(results == Results{-ECONNREFUSED, 0});
  });
}

TEST_CASE(
    "UringDriver: files are opened, written, read, synced, renamed, unlinked and closed, on each way down") {
  on_each_way([](UringExecutor& uring) {
    const TemporaryFolder folder;
    Results results;
    uring.executor.submit(files(folder / ".", results));
    uring.executor.run();
    CHECK(results == Results{FD_CLOEXEC, 6, 4, 0, 0, 0, 5000, 0, 0, -ENOENT, 0, -ENOENT});
  });
}

TEST_CASE(
    "UringDriver: receives into shared buffers see every byte in order, then the end, on each way down") {
  on_each_way([](UringExecutor& uring) {
    for (const bool over_tcp : {false, true}) {
      const Ends ends(over_tcp ? tcp_ends() : socket_ends(), &uring.driver());
      std::string text;
      for (int i = 0; i < 30'000; ++i) text += std::to_string(i);
      std::string got;
      std::int64_t sent = 0;
      uring.executor.submit(takes(ends.first, got));
      uring.executor.submit(sends(ends.second, text, sent));
      uring.executor.run();
      CHECK(got == text);
    }
  });
}

TEST_CASE("UringDriver: an operation on a descriptor that is none fails with EBADF, on each way down") {
  on_each_way([](UringExecutor& uring) {
    Results results;
    uring.executor.submit(reads(9999, results));
    uring.executor.run();
    uring.executor.submit(polls(9999, results));
    uring.executor.run();
    CHECK(results.at(0) == -EBADF);
    CHECK((results.at(1) == -EBADF || results.at(1) == POLLNVAL));
  });
}

TEST_CASE("UringDriver: sends that are not copied are counted, and those of a kind that can't are copied") {
  UringExecutor uring({.zero_copy_from_bytes = 1000});
  const Ends tcp(tcp_ends(), &uring.driver());
  const Ends local(socket_ends(), &uring.driver());
  std::int64_t sent = 0;
  std::string got;
  uring.executor.submit(takes(tcp.first, got));
  uring.executor.submit(sends(tcp.second, std::string(5000, 'x'), sent));
  uring.executor.run();
  CHECK(sent == 5000);
  CHECK(uring.statistics().zero_copies == 1);
  uring.executor.submit(takes(local.first, got));
  uring.executor.submit(sends(local.second, std::string(5000, 'x'), sent));
  uring.executor.run();
  CHECK(sent == 10'000);
  CHECK(uring.statistics().zero_copies == 1);
  CHECK(uring.statistics().fallbacks == 1);
}

}  // namespace
