#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/tcp.hpp>
#include <bide/executor/scope/outcome.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/sync/event.hpp>

#include "io_run.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

TcpListener here() { return TcpListener::bind(Address::loopback(0)); }

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

Task<std::string> read_to_end(TcpStream& stream) {
  std::string all;
  std::string part(1000, '\0');
  for (;;) {
    const std::size_t came = co_await stream.read(room(part));
    if (came == 0) co_return all;
    all.append(part, 0, came);
  }
}

struct Pair {
  TcpStream client;
  TcpStream server;
};

Task<> connect_into(TcpStream& client, Address address) { client = co_await TcpStream::connect(address); }

Task<> pair_up(Pair& pair) {
  TcpListener listener = here();
  Handle<> connecting = submit(connect_into(pair.client, listener.local_address()));
  pair.server = co_await listener.accept();
  co_await connecting;
  co_await listener.close();
}

int option_of(const StreamSocket& stream, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  ::getsockopt(stream.number(), level, option, &value, &size);
  return value;
}

Task<> echo_once(TcpListener& listener) {
  TcpStream stream = co_await listener.accept();
  std::string text = co_await read_to_end(stream);
  co_await stream.write_all(bytes_of(text));
  co_await stream.close();
}

TEST_CASE("TcpStream: what is written to a server comes back, and then the end of the stream") {
  const std::string sent = bytes_that_count(3'000'000);
  const std::string came = run_io([](const std::string& text) -> Task<std::string> {
    TcpListener listener = here();
    Handle<> server = submit(echo_once(listener));
    TcpStream stream = co_await TcpStream::connect(listener.local_address());
    co_await stream.write_all(bytes_of(text));
    stream.shutdown_write();
    std::string answer = co_await read_to_end(stream);
    co_await stream.close();
    co_await server;
    co_await listener.close();
    co_return answer;
  }(sent));
  CHECK(came == sent);
}

TEST_CASE("TcpStream: an empty span is written and read at once, and is no end of the stream") {
  std::vector<std::size_t> results;
  run_io([](std::vector<std::size_t>& got) -> Task<> {
    Pair pair;
    co_await pair_up(pair);
    const std::span<const std::byte> nothing;
    const std::span<std::byte> nowhere;
    got.push_back(co_await pair.client.write(nothing));
    got.push_back(co_await pair.client.write_all(nothing));
    got.push_back(co_await pair.server.read(nowhere));
    got.push_back(co_await pair.server.read_exactly(nowhere));
    co_await pair.client.write_all(bytes_of("abc"));
    std::string text(3, '\0');
    got.push_back(co_await pair.server.read_exactly(room(text)));
  }(results));
  CHECK(results == std::vector<std::size_t>{0, 0, 0, 0, 3});
}

TEST_CASE("TcpStream: TCP_NODELAY is on at both ends, descriptors are close-on-exec and block") {
  std::vector<int> found;
  run_io([](std::vector<int>& got) -> Task<> {
    Pair pair;
    co_await pair_up(pair);
    for (TcpStream* stream : {&pair.client, &pair.server}) {
      got.push_back(option_of(*stream, IPPROTO_TCP, TCP_NODELAY));
      got.push_back(::fcntl(stream->number(), F_GETFD) & FD_CLOEXEC);
      got.push_back(::fcntl(stream->number(), F_GETFL) & O_NONBLOCK);
    }
    pair.client.set_no_delay(StreamSocket::Setting::off);
    got.push_back(option_of(pair.client, IPPROTO_TCP, TCP_NODELAY));
    pair.client.set_keepalive(Keepalive{.idle = 33s, .interval = 5s, .probes = 4});
    got.push_back(option_of(pair.client, SOL_SOCKET, SO_KEEPALIVE));
    got.push_back(option_of(pair.client, IPPROTO_TCP, TCP_KEEPIDLE));
    got.push_back(option_of(pair.client, IPPROTO_TCP, TCP_KEEPCNT));
  }(found));
  CHECK(found == std::vector<int>{1, FD_CLOEXEC, 0, 1, FD_CLOEXEC, 0, 0, 1, 33, 4});
}

Task<> connects(Address address) { co_await TcpStream::connect(address); }

TEST_CASE("TcpStream: a refused connection names call and address") {
  const Failure failure = run_io(failure_of(connects, Address::loopback(1)));
  CHECK(failure.code == std::errc::connection_refused);
  CHECK(failure.text == "connect to 127.0.0.1:1: Connection refused");
}

Task<> reads_reset(TcpStream& stream) {
  std::string text(1, '\0');
  co_await stream.read(room(text));
}

TEST_CASE("TcpStream: a reset names call and peer") {
  std::string peer;
  const Failure failure = run_io([](std::string& name) -> Task<Failure> {
    Pair pair;
    co_await pair_up(pair);
    name = pair.client.local_address().to_string();
    pair.client.set_linger(0s);
    co_await pair.client.close();
    Failure read = co_await failure_of([](TcpStream* stream) { return reads_reset(*stream); }, &pair.server);
    co_return read;
  }(peer));
  CHECK(failure.code == std::errc::connection_reset);
  CHECK(failure.text == "read from " + peer + ": Connection reset by peer");
}

Task<> writes_on(TcpStream& stream) {
  const std::string text(100'000, 'x');
  for (;;) co_await stream.write_all(bytes_of(text));
}

TEST_CASE("TcpStream: a write to a peer that is gone is an error, and no signal") {
  const Failure failure = run_io([]() -> Task<Failure> {
    Pair pair;
    co_await pair_up(pair);
    co_await pair.client.close();
    std::string text(1, '\0');
    co_await pair.server.read(room(text));
    Failure first = co_await failure_of([](TcpStream* stream) { return writes_on(*stream); }, &pair.server);
    Failure then = co_await failure_of([](TcpStream* stream) { return writes_on(*stream); }, &pair.server);
    co_return then;
  }());
  CHECK(failure.code == std::errc::broken_pipe);
  CHECK(failure.text.find("(0 of 100000 bytes are written): Broken pipe") != std::string::npos);
}

TEST_CASE("TcpStream: a stream that ends early fails read_exactly, which says how much came") {
  const Failure failure = run_io([]() -> Task<Failure> {
    Pair pair;
    co_await pair_up(pair);
    co_await pair.client.write_all(bytes_of("abc"));
    co_await pair.client.close();
    std::string text(8, '\0');
    Failure read = co_await failure_of(
        [](TcpStream* stream, std::string* into) -> Task<> { co_await stream->read_exactly(room(*into)); },
        &pair.server, &text);
    co_return read;
  }());
  CHECK(failure.code == IoError::end_of_stream);
  CHECK(failure.text.find("read 8 bytes from 127.0.0.1:") == 0);
  CHECK(failure.text.find(", of which 3 came: the stream has ended") != std::string::npos);
}

// FAULTS K2
TEST_CASE("TcpStream: close ends a read of another thread first, and a new stream sees only its own bytes") {
  std::vector<std::string> log;
  run_io([](std::vector<std::string>& lines) -> Task<> {
    Pair old;
    co_await pair_up(old);
    const int number = old.server.number();
    Handle<Failure> reader = submit(failure_of(
        [](TcpStream* stream, std::vector<std::string>* said) -> Task<> {
          std::string text(10, '\0');
          try {
            co_await stream->read(room(text));
          } catch (const std::system_error&) {
            said->push_back("read ended");
            throw;
          }
        },
        &old.server, &lines));
    co_await Sleep(2ms);
    co_await old.server.close();
    lines.push_back("closed");
    const Failure failure = co_await reader;
    lines.push_back(failure.code == std::errc::operation_canceled ? "canceled" : failure.text);
    Pair fresh;
    co_await pair_up(fresh);
    const bool reused = fresh.server.number() == number || fresh.client.number() == number;
    lines.push_back(reused ? "same number" : "other number");
    const Failure closed =
        co_await failure_of([](TcpStream* stream) { return writes_on(*stream); }, &old.server);
    lines.push_back(closed.code == std::errc::bad_file_descriptor ? "bad descriptor" : closed.text);
    const auto written = co_await outcome(old.client.write_all(bytes_of("old")));
    if (!written.has_value()) lines.emplace_back("not written");
    co_await fresh.client.write_all(bytes_of("new"));
    fresh.client.shutdown_write();
    std::string text = co_await read_to_end(fresh.server);
    lines.push_back(text);
  }(log));
  CHECK(log ==
        std::vector<std::string>{"read ended", "closed", "canceled", "same number", "bad descriptor", "new"});
}

// FAULTS K1
TEST_CASE("TcpStream: a read that timed out is over before its buffer goes") {
  const bool intact = run_io([]() -> Task<bool> {
    Pair pair;
    co_await pair_up(pair);
    auto buffer = std::make_unique<std::array<std::byte, 64>>();
    const auto timed = co_await try_timeout(1ms, pair.server.read(*buffer));
    buffer->fill(std::byte{0x5A});
    co_await pair.client.write_all(bytes_of("late data"));
    co_await Sleep(5ms);
    bool same = !timed.has_value();
    for (const std::byte byte : *buffer) same = same && byte == std::byte{0x5A};
    std::string text(9, '\0');
    co_await pair.server.read_exactly(room(text));
    co_return same&& text == "late data";
  }());
  CHECK(intact);
}

// FAULTS K8
TEST_CASE("TcpStream: a slow reader and small buffers never show the writer a try again") {
  constexpr std::size_t size = 1U << 20U;
  const std::size_t came = run_io([]() -> Task<std::size_t> {
    Pair pair;
    co_await pair_up(pair);
    pair.client.set_send_buffer_bytes(4096);
    Handle<> writer = submit(
        {},
        [](TcpStream* stream) -> Task<> {
          const std::string text(size, 'y');
          co_await stream->write_all(bytes_of(text));
          stream->shutdown_write();
        },
        &pair.client);
    std::size_t sum = 0;
    std::string part(65536, '\0');
    for (int turn = 0;; ++turn) {
      const std::size_t bytes = co_await pair.server.read(room(part));
      if (bytes == 0) break;
      sum += bytes;
      if (turn % 64 == 0) co_await Sleep(1ms);
    }
    co_await writer;
    co_return sum;
  }());
  CHECK(came == size);
}

Task<> receives_all(TcpStream& stream, std::string& into) {
  for (;;) {
    Received part = co_await stream.receive();
    if (part.empty()) co_return;
    into += text_of(part.data());
  }
}

TEST_CASE("TcpStream: receive gives every byte in order, then the end, again and again") {
  const std::string sent = bytes_that_count(2'000'000);
  std::string came;
  bool ended_again = false;
  run_io([](const std::string& text, std::string& into, bool& again) -> Task<> {
    Pair pair;
    co_await pair_up(pair);
    Handle<> reader = submit(receives_all(pair.server, into));
    co_await pair.client.write_all(bytes_of(text));
    co_await pair.client.close();
    co_await reader;
    const Received more = co_await pair.server.receive();
    again = more.empty();
  }(sent, came, ended_again));
  CHECK(came == sent);
  CHECK(ended_again);
}

TEST_CASE("TcpStream: a read after a receive gets what is queued first") {
  const std::string sent = bytes_that_count(100'000);
  std::string came;
  run_io([](const std::string& text, std::string& into) -> Task<> {
    Pair pair;
    co_await pair_up(pair);
    Handle<> writer = submit(
        {},
        [](TcpStream* stream, const std::string* bytes) -> Task<> {
          co_await stream->write_all(bytes_of(*bytes));
          co_await Sleep(5ms);
          stream->shutdown_write();
        },
        &pair.client, &text);
    std::string part(777, '\0');
    for (int turn = 0;; ++turn) {
      std::size_t bytes = 0;
      if (turn % 3 == 0) {
        const Received leased = co_await pair.server.receive();
        into += text_of(leased.data());
        bytes = leased.size();
      } else {
        bytes = co_await pair.server.read(room(part));
        into.append(part, 0, bytes);
      }
      if (bytes == 0) break;
      if (turn % 16 == 0) co_await Sleep(1ms);
    }
    co_await writer;
  }(sent, came));
  CHECK(came == sent);
}

TEST_CASE("TcpStream: a cancelled receive loses nothing") {
  std::string came;
  run_io([](std::string& into) -> Task<> {
    Pair pair;
    co_await pair_up(pair);
    const auto none = co_await try_timeout(1ms, pair.server.receive());
    if (none.has_value()) into += "early ";
    const auto empty = co_await try_timeout(1ms, pair.server.read(std::span<std::byte>()));
    if (empty.has_value()) into += "empty ";
    std::string text(2, '\0');
    for (int turn = 0; turn < 2; ++turn) {
      const auto read_none = co_await try_timeout(1ms, pair.server.read(room(text)));
      if (read_none.has_value()) into += "early ";
    }
    co_await pair.client.write_all(bytes_of("kept"));
    co_await pair.server.read(room(text));
    into += text + " ";
    const Received part = co_await pair.server.receive();
    into += text_of(part.data());
  }(came));
  CHECK(came == "empty ke pt");
}

TEST_CASE("TcpStream: outlives its executor, and a second one goes on with it") {
  const int before = descriptor_count();
  {
    Pair pair;
    std::string text(2, '\0');
    {
      run_io([](Pair& made) -> Task<> {
        co_await pair_up(made);
        const auto none = co_await try_timeout(1ms, made.server.receive());
        if (none.has_value()) throw std::logic_error("early");
      }(pair));
    }
    run_io([](Pair& used, std::string& into) -> Task<> {
      co_await used.client.write_all(bytes_of("ok"));
      co_await used.server.read_exactly(room(into));
    }(pair, text));
    CHECK(text == "ok");
  }
  CHECK(descriptor_count() == before);
}

TEST_CASE("TcpListener: threads that accept are served in order, and a bind in use says so") {
  std::vector<int> served;
  std::string text;
  run_io([](std::vector<int>& order, std::string& said) -> Task<> {
    TcpListener listener = here();
    std::vector<Handle<>> threads;
    for (int number = 0; number < 5; ++number) {
      threads.push_back(submit(
          {},
          [](TcpListener* from, std::vector<int>* into, int who) -> Task<> {
            TcpStream stream = co_await from->accept();
            into->push_back(who);
          },
          &listener, &order, number));
    }
    co_await Yield();
    for (int number = 0; number < 5; ++number) co_await TcpStream::connect(listener.local_address());
    for (Handle<>& thread : threads) co_await thread;
    try {
      const TcpListener second = TcpListener::bind(listener.local_address());
    } catch (const std::system_error& error) {
      said = error.what();
    }
    co_await listener.close();
  }(served, text));
  CHECK(served == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(text.find("listen on 127.0.0.1:") == 0);
  CHECK(text.find(": Address already in use") != std::string::npos);
}

TEST_CASE("TcpListener: close ends accepts that wait, and closes what nobody took") {
  const int before = descriptor_count();
  const Failure failure = run_io([]() -> Task<Failure> {
    TcpListener listener = here();
    const auto none = co_await try_timeout(1ms, listener.accept());
    Pair pair;
    co_await connect_into(pair.client, listener.local_address());
    co_await connect_into(pair.server, listener.local_address());
    co_await Sleep(2ms);
    TcpStream first = co_await listener.accept();
    TcpStream second = co_await listener.accept();
    Handle<Failure> waiting =
        submit(failure_of([](TcpListener* from) -> Task<> { co_await from->accept(); }, &listener));
    co_await Sleep(1ms);
    co_await listener.close();
    Failure ended = co_await waiting;
    if (none.has_value()) ended.text += " early";
    co_return ended;
  }());
  CHECK(failure.code == std::errc::operation_canceled);
  CHECK(failure.text.find("accept on 127.0.0.1:") == 0);
  CHECK(descriptor_count() == before);
}

}  // namespace
