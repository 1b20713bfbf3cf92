#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <ctime>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/tcp.hpp>
#include <bide/executor/io/unix.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "io_run.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

struct Counts {
  int delivered = 0;
  int connected = 0;
  int left = 0;  // clients that the last of the test looks at
  int closed = 0;
};

// The peer's end was delivered and closed, or nobody took it and it was reset.
bool closed_by_peer(const Descriptor& client) {
  char byte = 0;
  const ssize_t came = ::recv(client.number(), &byte, 1, MSG_DONTWAIT);
  return came == 0 || (came < 0 && errno == ECONNRESET);
}

Descriptor plain_client(const Address& address) {
  Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(client.number(), address.data(), address.size()) != 0) return {};
  return client;
}

// FAULTS K3: each of the connections is delivered to an accept, or closed with the listener.
Task<> accepts_under_cancels(Counts& counts, int turns) {
  std::vector<Descriptor> clients;
  {
    TcpListener listener = TcpListener::bind(Address::loopback(0));
    for (int turn = 0; turn < turns; ++turn) {
      Handle<> accepting = submit(
          {},
          [](TcpListener* from, int* delivered) -> Task<> {
            TcpStream stream = co_await from->accept();
            ++*delivered;
          },
          &listener, &counts.delivered);
      for (int yields = turn % 3; yields > 0; --yields) co_await Yield();
      Descriptor client = plain_client(listener.local_address());
      if (client.open()) ++counts.connected;
      clients.push_back(std::move(client));
      for (int yields = turn / 3 % 3; yields > 0; --yields) co_await Yield();
      if (turn % 16 == 0) co_await Sleep(10us);
      accepting.cancel();
      try {
        co_await accepting;
      } catch (const Cancelled&) {
      }
      if (clients.size() < 100) continue;
      while (clients.size() > 50) clients.erase(clients.begin());
    }
  }
  co_await Sleep(1ms);
  for (const Descriptor& client : clients) counts.closed += closed_by_peer(client) ? 1 : 0;
  counts.left = static_cast<int>(clients.size());
}

TEST_CASE(
    "TcpListener: an accept under a cancel delivers the connection or leaves it to the next, and none "
    "leaks") {
  const int before = descriptor_count();
  Counts counts;
  {
    Executor executor;
    executor.submit(accepts_under_cancels(counts, 10'000));
    executor.run();
    CHECK(descriptor_count() <= before + 4);  // the driver's own
  }
  CHECK(descriptor_count() == before);
  CHECK(counts.connected == 10'000);
  CHECK(counts.delivered > 100);
  CHECK(counts.left >= 50);
  CHECK(counts.closed == counts.left);
}

class DescriptorLimit {
 public:
  DescriptorLimit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~DescriptorLimit() { lift(); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

  // One more than the lowest that is free.
  void set_to_one_more() {
    const int lowest = ::dup(STDERR_FILENO);
    ::close(lowest);
    const rlimit limit{static_cast<rlim_t>(lowest) + 1, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  void lift() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// The code alone: to look into its category, UBSan needs a descriptor, and finds none.
std::vector<int> told;
void note_exhausted(std::error_code error, const Address& listener) {
  told.push_back(listener.port() != 0 ? error.value() : 0);
}

Task<> serves(TcpStream stream, int& served) {
  co_await stream.write_all(bytes_of("x"));
  ++served;
  std::string text(1, '\0');
  co_await stream.read(room(text));
}

// So that no descriptor is taken later but those of connections.
Task<> make_driver() {
  TcpListener listener = TcpListener::bind(Address::loopback(0));
  const Descriptor client = plain_client(listener.local_address());
  TcpStream stream = co_await listener.accept();
  co_await listener.close();
  co_await stream.close();
}

struct Episode {
  ListenerStatistics during{};
  double processor = 0;
  int served = 0;
  int answered = 0;
};

// FAULTS K4. The limit is set before the first accept: io_uring keeps for each request the limit of when it was made.
Task<> runs_out(Episode& episode, Duration held) {
  constexpr std::size_t client_count = 200;
  TcpListener listener = TcpListener::bind(Address::loopback(0), {.exhausted = note_exhausted});
  co_await make_driver();
  std::vector<Descriptor> clients;
  for (std::size_t number = 0; number < client_count; ++number) {
    clients.push_back(Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  }
  DescriptorLimit limit;
  limit.set_to_one_more();
  for (const Descriptor& client : clients) {
    const Address address = listener.local_address();
    if (::connect(client.number(), address.data(), address.size()) != 0) co_return;
  }
  Handle<> server = submit(
      {},
      [](TcpListener* from, int* served) -> Task<> {
        for (std::size_t number = 0; number < client_count; ++number) {
          TcpStream stream = co_await from->accept();
          submit(serves(std::move(stream), *served));
        }
      },
      &listener, &episode.served);
  const double begun = processor_seconds();
  co_await Sleep(held);
  episode.processor = processor_seconds() - begun;
  episode.during = listener.statistics();
  limit.lift();
  co_await server;
  co_await Sleep(1ms);
  for (const Descriptor& client : clients) {
    char byte = 0;
    if (::recv(client.number(), &byte, 1, 0) == 1) ++episode.answered;
  }
}

TEST_CASE(
    "TcpListener: at the limit of descriptors it tries a few times a second, tells once, and then serves "
    "all") {
  told.clear();
  Episode episode;
  run_io(runs_out(episode, 1s));
  CHECK(told == std::vector<int>{EMFILE});
  CHECK(episode.during.exhausted == 1);
  CHECK(episode.during.backed_off >= 2);
  CHECK(episode.during.backed_off <= 12);
  CHECK(episode.during.accepted <= 1);
  CHECK(episode.processor < 0.1);
  CHECK(episode.served == 200);
  CHECK(episode.answered == 200);
}

TEST_CASE("TcpListener: in virtual time a pause is a jump of the clock") {
  told.clear();
  const Instant end = run_io(
      []() -> Task<Instant> {
        TcpListener listener = TcpListener::bind(Address::loopback(0), {.exhausted = note_exhausted});
        co_await make_driver();
        Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        DescriptorLimit limit;
        const int taken = ::dup(client.number());
        limit.set_to_one_more();
        const Descriptor last(::dup(client.number()));
        const Address address = listener.local_address();
        if (::connect(client.number(), address.data(), address.size()) != 0) co_return Instant::max();
        Handle<> lifter = submit(
            {},
            [](DescriptorLimit* of) -> Task<> {
              co_await Sleep(250ms);
              of->lift();
            },
            &limit);
        TcpStream stream = co_await listener.accept();
        co_await lifter;
        ::close(taken);
        co_return now();
      }(),
      {.time = TimeMode::virtual_time});
  CHECK(end == Instant() + 300ms);
  CHECK(told.size() == 1);
}

// FAULTS X5: what is in flight at the end of an executor is over before its frames go.
TEST_CASE("Sockets: an executor is destroyed with accepts, reads, receives and writes in flight") {
  const int before = descriptor_count();
  {
    Executor executor;
    executor.submit({}, []() -> Task<> {
      TcpListener listener = TcpListener::bind(Address::loopback(0));
      TcpStream client = co_await TcpStream::connect(listener.local_address());
      TcpStream server = co_await listener.accept();
      auto [one, other] = UnixStream::pair();
      submit(
          {}, [](TcpListener* from) -> Task<> { co_await from->accept(); }, &listener);
      submit(
          {}, [](TcpListener* from) -> Task<> { co_await from->accept(); }, &listener);
      submit(
          {}, [](TcpStream* from) -> Task<> { const Received part = co_await from->receive(); }, &server);
      submit(
          {},
          [](UnixStream* from) -> Task<> {
            std::string text(10, '\0');
            co_await from->read(room(text));
          },
          &one);
      submit(
          {},
          [](UnixStream* to) -> Task<> {
            const std::string text(10'000'000, 'x');
            co_await to->write_all(bytes_of(text));
          },
          &one);
      std::string text(10, '\0');
      co_await client.read(room(text));
    });
    executor.run_for(5ms);
    CHECK(executor.size() == 6);
    const std::string dump = executor.dump();
    CHECK(dump.find("accept on 127.0.0.1:") != std::string::npos);
    CHECK(dump.find("receive from 127.0.0.1:") != std::string::npos);
    CHECK(dump.find("read from 127.0.0.1:") != std::string::npos);
    CHECK(dump.find("write to ") != std::string::npos);
  }
  CHECK(descriptor_count() == before);
}

TEST_CASE("TcpListener: one that is dropped while its accept goes on in the kernel is closed when run ends") {
  int before = 0;
  Executor executor;
  executor.submit(make_driver());
  executor.run();
  before = descriptor_count();
  for (int turn = 0; turn < 100; ++turn) {
    executor.submit({}, []() -> Task<> {
      TcpListener listener = TcpListener::bind(Address::loopback(0));
      const auto none = co_await try_timeout(10us, listener.accept());
      const Descriptor client = plain_client(listener.local_address());
      if (none.has_value()) throw std::logic_error("accepted from nowhere");
    });
    executor.run();
    REQUIRE(descriptor_count() == before);
  }
}

}  // namespace
