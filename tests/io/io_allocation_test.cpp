#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <bide/executor/io/file.hpp>
#include <bide/executor/io/pipe.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/io/udp.hpp>
#include <bide/tests/counted_allocations.hpp>

#include "io_run.hpp"
#include "temporary_folder.hpp"

// A program of its own, with a global operator new that counts.

namespace {

using namespace bide;
using namespace bide::test;

constexpr int turns = 200;

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

// Runs `act(turn)` `turns` times, twice. Returns: what the second round allocated.
template <class Act>
Task<std::uint64_t> second_round_of(Act act) {
  std::uint64_t begun = 0;
  for (int round = 0; round < 2; ++round) {
    begun = allocations::count;
    for (int turn = 0; turn < turns; ++turn) co_await act(turn);
  }
  co_return allocations::count - begun;
}

template <class F>
std::uint64_t allocations_of(F scenario) {
  frame_pool.limit_kept_bytes(std::size_t{64} << 20U);  // with AddressSanitizer it is zero
  return run_io(scenario());
}

struct Pair {
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  TcpStream client;
  TcpStream server;
  Task<> connect() {
    Handle<> connecting = submit(
        {},
        [](Pair* pair) -> Task<> {
          pair->client = co_await TcpStream::connect(pair->listener.local_address());
        },
        this);
    server = co_await listener.accept();
    co_await connecting;
  }
};

Task<std::uint64_t> reads_and_writes() {
  Pair pair;
  co_await pair.connect();
  std::string text(16, 'x');
  auto there = [&]() -> Task<> {
    co_await pair.client.write(bytes_of(text));
    co_await pair.server.read_exactly(room(text));
  };
  auto back = [&]() -> Task<> {
    co_await pair.server.write_all(bytes_of(text));
    co_await pair.client.read(room(text));
  };
  auto act = [&](int turn) { return turn % 2 == 0 ? there() : back(); };
  const std::uint64_t count = co_await second_round_of(std::ref(act));
  co_return count;
}

Task<std::uint64_t> receives() {
  Pair pair;
  co_await pair.connect();
  auto act = [&](int) -> Task<> {
    co_await pair.client.write_all(bytes_of("hello"));
    const Received part = co_await pair.server.receive();
  };
  const std::uint64_t count = co_await second_round_of(std::ref(act));
  co_return count;
}

Task<std::uint64_t> connects_and_accepts() {
  Pair pair;
  auto act = [&](int) -> Task<> {
    co_await pair.connect();
    co_await pair.client.close();
    co_await pair.server.close();
  };
  const std::uint64_t count = co_await second_round_of(std::ref(act));
  co_return count;
}

Task<std::uint64_t> datagrams() {
  UdpSocket socket = UdpSocket::bind(Address::loopback(0));
  socket.connect(socket.local_address());
  std::string text(16, 'x');
  auto send = [&]() -> Task<> { co_await socket.send(bytes_of(text)); };
  auto receive = [&]() -> Task<> { co_await socket.recv_from(room(text)); };
  auto act = [&](int turn) { return turn % 2 == 0 ? send() : receive(); };
  const std::uint64_t count = co_await second_round_of(std::ref(act));
  co_return count;
}

Task<std::uint64_t> pipes() {
  PipeEnds ends = bide::pipe();
  std::string text(16, 'x');
  auto act = [&](int) -> Task<> {
    co_await ends.writer.write_all(bytes_of(text));
    co_await ends.reader.read(room(text));
  };
  const std::uint64_t count = co_await second_round_of(std::ref(act));
  co_return count;
}

Task<std::uint64_t> files() {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  File file = co_await File::open(path, OpenMode::read_write | OpenMode::create);
  std::string text(16, 'x');
  const WritePart parts[] = {bytes_of("ab"), bytes_of("cd")};
  auto act = [&](int turn) -> Task<> {
    co_await file.write_all_at(static_cast<std::uint64_t>(turn), bytes_of(text));
    co_await file.read_at(0, room(text));
    co_await file.write_parts_at(0, parts);
    co_await file.size();
  };
  const std::uint64_t count = co_await second_round_of(std::ref(act));
  co_return count;
}

TEST_CASE("Allocation: none after warm-up for reads and writes of sockets, pipes, datagrams and files") {
  CHECK(allocations_of(reads_and_writes) == 0);
  CHECK(allocations_of(pipes) == 0);
  CHECK(allocations_of(datagrams) == 0);
  CHECK(allocations_of(files) == 0);
}

TEST_CASE("Allocation: none after warm-up for receive, connect and accept") {
  CHECK(allocations_of(receives) == 0);
  CHECK(allocations_of(connects_and_accepts) == 0);
}

}  // namespace
