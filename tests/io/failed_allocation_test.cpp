#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/io/file.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/io/unix.hpp>
#include <bide/tests/counted_allocations.hpp>

#include "io_run.hpp"
#include "raw_call.hpp"

// A program of its own, with a global operator new that fails where it is told to.

using namespace bide;
using namespace bide::test;
using allocations::Failing;
using DriverChoice = DriverOptions::Choice;

namespace {

constexpr DriverChoice both[] = {DriverChoice::uring, DriverChoice::epoll};
constexpr std::uint64_t most_allocations = 1000;  // none of these needs so many

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

ExecutorOptions on(DriverChoice choice, DriverOptions io = {}) {
  io.choice = choice;
  ExecutorOptions options;
  options.io = io;
  return options;
}

/// Calls `scenario` with each of its allocations failing in turn, until it needs none that fails.
/// Returns: how many times it failed; the checks are that nothing else remains of it.
template <class F>
int fail_each(Failing::Which which, F scenario) {
  scenario();  // warms up what stays
  int failures = 0;
  for (std::uint64_t number = 1; number < most_allocations; ++number) {
    const std::int64_t alive = allocations::alive;
    const int descriptors = descriptor_count();
    bool failed = false;
    bool reached = false;
    {
      const Failing failing(number, which);
      try {
        scenario();
      } catch (const std::bad_alloc&) {
        failed = true;
      } catch (const std::system_error&) {
        failed = true;
      }
      reached = Failing::reached();
    }
    if (failed) ++failures;
    const bool same = allocations::alive == alive && descriptor_count() == descriptors;
    if (!same) {
      INFO("allocation " << number);
      CHECK(allocations::alive == alive);
      CHECK(descriptor_count() == descriptors);
    }
    if (!reached) return failed ? -1 : failures;
  }
  return -1;
}

Task<> exchanges() {
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  TcpStream client = co_await TcpStream::connect(listener.local_address());
  TcpStream server = co_await listener.accept();
  std::string text(16, 'x');
  co_await client.write_all(std::as_bytes(std::span(text)));
  const Received part = co_await server.receive();
  if (part.size() != text.size()) throw std::system_error(EIO, std::generic_category());
  File file = co_await File::open("/proc/self/stat", OpenMode::read);
  co_await file.read_at(0, room(text));
  co_await file.close();
  co_await client.close();
  co_await server.close();
  co_await listener.close();
}

TEST_CASE("Driver: whichever allocation of its set-up fails, an error tells, and nothing remains") {
  for (const DriverChoice choice : both) {
    for (const auto which : {Failing::Which::one, Failing::Which::all_from}) {
      Executor executor;
      const auto set_up = [&] { static_cast<void>(make_driver(executor, on(choice).io)); };
      CHECK(fail_each(which, set_up) > 0);
    }
  }
}

TEST_CASE("Driver: whichever allocation of a whole run fails, an error tells, and nothing remains") {
  frame_pool.limit_kept_bytes(0);
  for (const DriverChoice choice : both) {
    for (const auto which : {Failing::Which::one, Failing::Which::all_from}) {
      CHECK(fail_each(which, [&] { run_io(exchanges(), on(choice)); }) > 10);
    }
  }
}

TEST_CASE("Driver: a close is done without memory for a call on another OS thread") {
  for (const DriverChoice choice : both) {
    DriverOptions io;
    io.refused_kinds =
        1U << static_cast<unsigned>(Operation::Kind::close);  // epoll gives files to the pool as it is
    Executor executor(on(choice, io));
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    std::int64_t result = 1;
    executor.submit({}, [&]() -> Task<> {
      static_cast<void>(driver_of(Executor::current()));
      const Failing failing(1, Failing::Which::all_from);
      result = co_await RawCall({.kind = Operation::Kind::close, .descriptor = file});
    });
    executor.run();
    CHECK(result == 0);
    CHECK(::fcntl(file, F_GETFD) == -1);
  }
}

struct Arrived {
  std::size_t bytes = 0;
  bool in_order = true;
  int errors = 0;
};

// More than the stream keeps room for come at once, and there is no memory for more room.
Task<> receives_without_memory(Arrived& arrived) {
  auto [near, far] = UnixStream::pair();
  const std::string text = bytes_that_count(100 * 64);
  co_await far.write_all(std::as_bytes(std::span(text)));
  far.shutdown_write();
  const Failing failing(1, Failing::Which::all_from);
  while (arrived.errors < 3) {
    try {
      const Received part = co_await near.receive();
      if (part.empty()) break;
      const std::string_view expected = std::string_view(text).substr(arrived.bytes, part.size());
      arrived.in_order =
          arrived.in_order && std::memcmp(part.data().data(), expected.data(), part.size()) == 0;
      arrived.bytes += part.size();
    } catch (const std::bad_alloc&) {  // of the error's text
      ++arrived.errors;
    }
  }
}

TEST_CASE("Receiving: without memory for what came the stream is broken there, and stays so") {
  DriverOptions small;
  small.buffer_count = 128;
  small.buffer_bytes = 64;
  Arrived arrived;
  run_io(receives_without_memory(arrived), on(DriverChoice::uring, small));
  CHECK(arrived.in_order);
  CHECK(arrived.bytes < 100 * 64);
  CHECK(arrived.errors == 3);
}

struct Connected {
  int delivered = 0;
  int closed = 0;
};

constexpr int clients_in_all = 300;

int count_closed(const std::vector<Descriptor>& clients) {
  int closed = 0;
  for (const Descriptor& client : clients) {
    char byte = 0;
    const ssize_t came = ::recv(client.number(), &byte, 1, MSG_DONTWAIT);
    if (came == 0 || (came < 0 && errno == ECONNRESET)) ++closed;
  }
  return closed;
}

Task<> accepts_without_memory(Connected& connected) {
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  const TcpStream warm = co_await TcpStream::connect(listener.local_address());
  const TcpStream other = co_await listener.accept();
  std::vector<Descriptor> clients;
  for (int number = 0; number < clients_in_all; ++number) {
    clients.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Address& to = listener.local_address();
    if (::connect(clients.back().number(), to.data(), to.size()) != 0) co_return;
  }
  std::vector<TcpStream> delivered;
  delivered.reserve(clients_in_all);
  {
    const Failing failing(1, Failing::Which::all_from);
    delivered.push_back(co_await listener.accept());
  }
  while (connected.delivered + connected.closed < clients_in_all) {
    delivered.push_back(co_await listener.accept());
    connected.delivered = static_cast<int>(delivered.size());
    connected.closed = count_closed(clients);
  }
}

TEST_CASE("Accepting: without memory for a connection it is closed, and accepts go on") {
  Connected connected;
  run_io(accepts_without_memory(connected), on(DriverChoice::uring));
  CHECK(connected.closed > 0);
  CHECK(connected.delivered + connected.closed == clients_in_all);
}

}  // namespace
