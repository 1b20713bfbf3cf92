#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <sys/uio.h>

#include "temporary_folder.hpp"
#include "uring_request.hpp"

// Cancels: what they find, and what has ended when they are over.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

TEST_CASE("UringDriver: cancels find their way when the queue is full, and those that wait need no kernel") {
  UringExecutor uring({.submission_entries = 4, .completion_entries = 8});
  const Ends ends(socket_ends());
  Results results;
  std::vector<Handle<>> handles;
  for (int i = 0; i < 1000; ++i) handles.push_back(uring.executor.submit(receives(ends.first, results)));
  uring.executor.run_for(1ms);  // all are with the kernel
  CHECK(uring.driver().in_flight() == 1000);
  for (int i = 0; i < 1000; ++i) handles.push_back(uring.executor.submit(receives(ends.first, results)));
  while (uring.driver().in_flight() < 1100) static_cast<void>(uring.executor.run_one());
  const std::uint64_t enters = uring.statistics().enters;
  for (Handle<>& handle : handles) handle.cancel();
  uring.executor.run();
  CHECK(results.empty());
  CHECK(uring.driver().in_flight() == 0);
  CHECK(uring.statistics().cancels > 1000);
  CHECK(uring.statistics().enters - enters < 1000);
}

TEST_CASE("UringDriver: data that came in the instant of a cancel is delivered, or stays in the socket") {
  UringExecutor uring;
  const Ends ends(socket_ends());
  Results results;
  Handle<> handle = uring.executor.submit(receives(ends.first, results));
  uring.executor.run_for(1ms);
  CHECK(::send(ends.second, "abc", 3, 0) == 3);
  handle.cancel();
  uring.executor.run();
  std::array<char, 8> rest{};
  const bool left = ::recv(ends.first, rest.data(), rest.size(), MSG_DONTWAIT) == 3;
  CHECK(results == (left ? Results{} : Results{3}));
}

/// A send that finds no room, as a message does at once.
class FullSend final : public Operation {
 public:
  explicit FullSend(int to) : Operation(Kind::send_message) {
    descriptor = to;
    memory = &message_;
  }
  void completed() noexcept override { last = result; }
  std::int64_t last = 1;

 private:
  char byte_ = 0;
  iovec part_{&byte_, 1};
  msghdr message_{.msg_name = nullptr,
                  .msg_namelen = 0,
                  .msg_iov = &part_,
                  .msg_iovlen = 1,
                  .msg_control = nullptr,
                  .msg_controllen = 0,
                  .msg_flags = 0};
};

TEST_CASE("UringDriver: a send that is cancelled in the instant in which it finds no room has ended") {
  UringExecutor uring;
  const Ends full(socket_ends());
  const std::string much(std::size_t{1} << 20U, 'x');
  while (::send(full.first, much.data(), much.size(), MSG_DONTWAIT) > 0) {
  }
  const Ends pipe(pipe_ends());
  CHECK(::write(pipe.second, "x", 1) == 1);
  FullSend send(full.first);
  Then first(pipe.first, [&] { uring.driver().cancel(send); });
  uring.driver().start(first);
  uring.driver().start(send);
  uring.executor.run_for(2ms);
  CHECK(send.last == -ECANCELED);
  CHECK(uring.driver().in_flight() == 0);
}

Task<> receives_into(int from, char* memory) {
  static_cast<void>(co_await Request(Kind::receive, {.descriptor = from, .memory = memory, .length = 64}));
}

TEST_CASE("UringDriver: after a cancel the kernel does not write to the memory") {
  UringExecutor uring;
  const Ends ends(socket_ends());
  for (int turn = 0; turn < 200; ++turn) {
    auto memory = std::make_unique<std::array<char, 64>>();
    Handle<> handle = uring.executor.submit(receives_into(ends.first, memory->data()));
    uring.executor.run_for(turn % 2 == 0 ? 0us : 20us);
    handle.cancel();
    uring.executor.run();
    memory->fill('p');
    CHECK(::send(ends.second, "abc", 3, 0) == 3);
    uring.executor.run_for(10us);
    CHECK(std::all_of(memory->begin(), memory->end(), [](char byte) { return byte == 'p'; }));
    std::array<char, 8> rest{};
    CHECK(::recv(ends.first, rest.data(), rest.size(), MSG_DONTWAIT) == 3);
  }
}

Task<> opens_for_writers(const std::string& path, Results& results) {
  results.push_back(co_await Request(
      Kind::open,
      {.memory = const_cast<char*>(path.c_str()), .flags = O_RDONLY | O_CREAT, .permissions = 0600}));
}

// With O_CREAT one of the kernel's own threads waits there for somebody who writes, and says ERESTARTSYS when it is called away.
TEST_CASE("UringDriver: an open that waits in the kernel ends when it is cancelled, and has not happened") {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  UringExecutor uring;
  Results results;
  Handle<> handle = uring.executor.submit(opens_for_writers(path, results));
  uring.executor.run_for(10ms);
  CHECK(uring.driver().in_flight() == 1);
  handle.cancel();
  uring.executor.run_for(1s);
  CHECK(results.empty());
  CHECK(uring.driver().in_flight() == 0);
  const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);  // lets go one that still waits
  uring.executor.run();
  ::close(writer);
}

}  // namespace
