#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <unistd.h>

#include "changed_ring.hpp"
#include "descriptor_count.hpp"
#include "uring_request.hpp"

// Requests that the kernel refuses at run time.

using namespace bide;
using namespace bide::test;
using namespace bide::test::changed_ring;
using namespace bide::test::uring;

namespace {

struct Refused {
  const char* name;
  unsigned opcode;
  Kind kind;
};

Task<> streams(Ends& ends, Results& results) {
  std::array<char, 4> text{"abc"};
  std::array<char, 4> got{};
  iovec part{text.data(), 3};
  iovec into{got.data(), 3};
  msghdr outgoing{};
  outgoing.msg_iov = &part;
  outgoing.msg_iovlen = 1;
  msghdr incoming{};
  incoming.msg_iov = &into;
  incoming.msg_iovlen = 1;
  const int from = ends.first;
  const int to = ends.second;
  results.push_back(co_await Request(Kind::send, {.descriptor = from, .memory = text.data(), .length = 3}));
  results.push_back(co_await Request(Kind::receive, {.descriptor = to, .memory = got.data(), .length = 3}));
  results.push_back(co_await Request(Kind::write, {.descriptor = from, .memory = text.data(), .length = 3}));
  results.push_back(co_await Request(Kind::read, {.descriptor = to, .memory = got.data(), .length = 3}));
  results.push_back(co_await Request(Kind::write_vector, {.descriptor = from, .memory = &part, .length = 1}));
  results.push_back(co_await Request(Kind::read_vector, {.descriptor = to, .memory = &into, .length = 1}));
  results.push_back(co_await Request(Kind::send_message, {.descriptor = from, .memory = &outgoing}));
  results.push_back(co_await Request(Kind::receive_message, {.descriptor = to, .memory = &incoming}));
  results.push_back(co_await Request(Kind::send, {.descriptor = from, .memory = text.data(), .length = 3}));
  const std::string shared = co_await Shared(to);
  results.push_back(static_cast<std::int64_t>(shared.size()));
}

Task<> connects(const Listener& listener, Results& results) {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = listener.address;
  results.push_back(
      co_await Request(Kind::connect, {.descriptor = client, .memory = &address, .length = sizeof address}));
  const std::int64_t accepted = co_await Request(Kind::accept, {.descriptor = listener.descriptor});
  results.push_back(accepted > 0 ? 0 : accepted);
  results.push_back(co_await Request(Kind::close, {.descriptor = client}));
  results.push_back(co_await Request(Kind::close, {.descriptor = static_cast<int>(accepted)}));
}

Task<> files(std::string path, Results& results) {
  std::string other = path + "-other";
  std::array<char, 4> text{"abc"};
  const auto opened = static_cast<int>(
      co_await Request(Kind::open, {.memory = path.data(), .flags = O_CREAT | O_RDWR, .permissions = 0600}));
  results.push_back(opened > 0 ? 0 : opened);
  results.push_back(
      co_await Request(Kind::write, {.descriptor = opened, .memory = text.data(), .length = 3, .offset = 0}));
  results.push_back(
      co_await Request(Kind::read, {.descriptor = opened, .memory = text.data(), .length = 3, .offset = 0}));
  results.push_back(co_await Request(Kind::sync, {.descriptor = opened}));
  results.push_back(co_await Request(Kind::allocate, {.descriptor = opened, .offset = 0, .size = 100}));
  results.push_back(co_await Request(Kind::rename, {.memory = path.data(), .more_memory = other.data()}));
  results.push_back(co_await Request(Kind::unlink, {.memory = other.data()}));
  results.push_back(co_await Request(Kind::close, {.descriptor = opened}));
}

constexpr Refused kinds[] = {
    {"accept", IORING_OP_ACCEPT, Kind::accept},
    {"connect", IORING_OP_CONNECT, Kind::connect},
    {"receive", IORING_OP_RECV, Kind::receive},
    {"send", IORING_OP_SEND, Kind::send},
    {"receive message", IORING_OP_RECVMSG, Kind::receive_message},
    {"send message", IORING_OP_SENDMSG, Kind::send_message},
    {"read", IORING_OP_READ, Kind::read},
    {"write", IORING_OP_WRITE, Kind::write},
    {"read vector", IORING_OP_READV, Kind::read_vector},
    {"write vector", IORING_OP_WRITEV, Kind::write_vector},
    {"open", IORING_OP_OPENAT, Kind::open},
    {"sync", IORING_OP_FSYNC, Kind::sync},
    {"allocate", IORING_OP_FALLOCATE, Kind::allocate},
    {"rename", IORING_OP_RENAMEAT, Kind::rename},
    {"unlink", IORING_OP_UNLINKAT, Kind::unlink},
    {"close", IORING_OP_CLOSE, Kind::close},
};

TEST_CASE("UringDriver: whichever kind of request the kernel refuses at run time is done another way") {
  const std::string path =
      std::filesystem::temp_directory_path() / ("bide-restricted-" + std::to_string(::getpid()));
  for (const Refused& refused : kinds) {
    INFO(refused.name);
    const int descriptors = descriptor_count();
    {
      forbidden_opcode = refused.opcode;
      UringExecutor uring;
      forbidden_opcode.reset();
      CHECK(kernel_restricts);
      Ends ends(socket_ends(), &uring.driver());
      const Listener listener(&uring.driver());
      Results results;
      const auto run = [&uring](Task<> task) {
        uring.executor.submit(std::move(task));
        uring.executor.run();
      };
      for (int twice = 0; twice < 2; ++twice) {
        results.clear();
        run(streams(ends, results));
        CHECK(results == Results{3, 3, 3, 3, 3, 3, 3, 3, 3, 3});
        results.clear();
        run(connects(listener, results));
        CHECK(results == Results{0, 0, 0, 0});
        results.clear();
        run(files(path, results));
        CHECK(results == Results{0, 3, 3, 0, 0, 0, 0, 0});
      }
      CHECK(uring.statistics().fallbacks > 0);
      CHECK(uring.driver().in_flight() == 0);
    }
    CHECK(descriptor_count() == descriptors);
  }
}

}  // namespace
