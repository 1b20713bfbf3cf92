#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/udp.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "io_run.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

TEST_CASE("UdpSocket: a datagram comes whole, with who sent it, cut off where there is no room") {
  std::vector<std::string> log;
  run_io([](std::vector<std::string>& lines) -> Task<> {
    UdpSocket a = UdpSocket::bind(Address::loopback(0));
    UdpSocket b = UdpSocket::bind(Address::loopback(0));
    const Address to = b.local_address();
    for (const char* text : {"hello", "", "too long"}) co_await a.send_to(bytes_of(text), to);
    std::string buffer(5, '\0');
    for (int turn = 0; turn < 3; ++turn) {
      const ReceivedDatagram datagram = co_await b.recv_from(room(buffer));
      std::string line = buffer.substr(0, datagram.size);
      if (datagram.truncated) line += " truncated";
      if (datagram.from == a.local_address()) line += " from a";
      lines.push_back(line);
    }
    const auto none = co_await try_timeout(1ms, b.recv_from(room(buffer)));
    lines.push_back(none.has_value() ? "more" : "no more");
    b.connect(a.local_address());
    co_await b.send(bytes_of("back"));
    const ReceivedDatagram answer = co_await a.recv_from(room(buffer));
    lines.push_back(buffer.substr(0, answer.size));
  }(log));
  CHECK(log ==
        std::vector<std::string>{"hello from a", " from a", "too l truncated from a", "no more", "back"});
}

TEST_CASE("UdpSocket: batches send all in order, and receive what is there") {
  constexpr std::size_t count = 100;
  std::vector<std::string> came;
  run_io([](std::vector<std::string>& into) -> Task<> {
    UdpSocket a = UdpSocket::bind(Address::loopback_ipv6(0));
    UdpSocket b = UdpSocket::bind(Address::loopback_ipv6(0));
    std::vector<std::string> texts;
    for (std::size_t number = 0; number < count; ++number) texts.push_back(std::to_string(number));
    std::vector<OutgoingDatagram> out(count);
    for (std::size_t number = 0; number < count; ++number) {
      out[number].bytes = bytes_of(texts[number]);
      out[number].to = b.local_address();
    }
    const std::size_t sent = co_await a.send_batch(out);
    into.push_back("sent " + std::to_string(sent));
    std::vector<std::array<std::byte, 8>> buffers(count);
    std::vector<IncomingDatagram> in(count);
    for (std::size_t at = 0; at < count; ++at) in[at].room = buffers[at];
    for (std::size_t got = 0; got < count;) {
      const std::size_t part = co_await b.recv_batch(std::span(in).subspan(got));
      got += part;
    }
    for (std::size_t at = 0; at < count; ++at) {
      if (in[at].received.from != a.local_address()) into.push_back("from elsewhere");
      into.emplace_back(text_of(std::span<const std::byte>(buffers[at]).first(in[at].received.size)));
    }
    into.push_back("empty " + std::to_string(co_await b.recv_batch(std::span<IncomingDatagram>())));
  }(came));
  std::vector<std::string> expected{"sent 100"};
  for (std::size_t number = 0; number < count; ++number) expected.push_back(std::to_string(number));
  expected.emplace_back("empty 0");
  CHECK(came == expected);
}

Task<std::error_code> send_batch_to_nobody() {
  UdpSocket gone = UdpSocket::bind(Address::loopback(0));
  const Address nobody = gone.local_address();
  co_await gone.close();
  UdpSocket socket = UdpSocket::bind(Address::loopback(0));
  socket.connect(nobody);
  std::array<OutgoingDatagram, 8> out;
  for (OutgoingDatagram& datagram : out) datagram.bytes = bytes_of("x");
  try {
    co_await socket.send_batch(out);
  } catch (const std::system_error& error) {
    co_return error.code();
  }
  co_return std::error_code();
}

TEST_CASE("UdpSocket: a batch tells that nobody is there") {
  CHECK(run_io(send_batch_to_nobody()) == std::errc::connection_refused);
}

TEST_CASE("UdpSocket: errors name call and address, and options are taken") {
  Failure failure = run_io(failure_of([]() -> Task<> {
    UdpSocket socket = UdpSocket::bind(Address::loopback(0));
    socket.set_broadcast(UdpSocket::Setting::on);
    socket.set_ttl(3);
    socket.set_send_buffer_bytes(10'000);
    const std::string text(70'000, 'x');
    co_await socket.send_to(bytes_of(text), Address::loopback(9));
  }));
  CHECK(failure.code == std::errc::message_size);
  CHECK(failure.text == "send to 127.0.0.1:9: Message too long");
  failure = run_io(failure_of([]() -> Task<> {
    UdpSocket socket;
    std::string text(1, '\0');
    co_await socket.recv_from(room(text));
  }));
  CHECK(failure.code == std::errc::bad_file_descriptor);
}

TEST_CASE("UdpSocket: close ends a receive of another thread first") {
  const Failure failure = run_io([]() -> Task<Failure> {
    UdpSocket socket = UdpSocket::bind(Address::loopback(0));
    Handle<Failure> waiting = submit(failure_of(
        [](UdpSocket* from) -> Task<> {
          std::string text(10, '\0');
          co_await from->recv_from(room(text));
        },
        &socket));
    co_await Sleep(1ms);
    co_await socket.close();
    Failure ended = co_await waiting;
    co_return ended;
  }());
  CHECK(failure.code == std::errc::operation_canceled);
  CHECK(failure.text.find("receive on 127.0.0.1:") == 0);
}

}  // namespace
