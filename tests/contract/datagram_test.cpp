#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/stream.hpp>
#include <bide/executor/io/udp.hpp>
#include <bide/executor/io/unix.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

Task<> receives(Stage& stage, DatagramSocket& socket, std::size_t at_most = 100) {
  std::string memory(at_most, '\0');
  const ReceivedDatagram datagram = co_await socket.recv_from(room(memory));
  stage.note(memory.substr(0, datagram.size) + (datagram.truncated ? " (cut)" : ""));
}

const Behaviours udp_behaviours(
    Under::all_faults,
    {
        {"UdpSocket: a datagram arrives whole, and says who sent it",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           UdpSocket b = UdpSocket::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> {
             stage.note(std::to_string(co_await a.send_to(bytes_of("hello"), b.local_address())));
             std::string memory(100, '\0');
             const ReceivedDatagram datagram = co_await b.recv_from(room(memory));
             stage.note(memory.substr(0, datagram.size));
             stage.note(datagram.from == a.local_address() ? "from a" : datagram.from.to_string());
           });
           stage.run();
           CHECK(stage.log == Log{"5", "hello", "from a"});
         }},
        {"UdpSocket: receive waits",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> {
             Handle<> receiving = submit(receives(stage, a));
             co_await Sleep(1ms);
             stage.note("send");
             co_await a.send_to(bytes_of("x"), a.local_address());
             co_await receiving;
           });
           stage.run();
           CHECK(stage.log == Log{"send", "x"});
         }},
        {"UdpSocket: what does not fit is cut, and told",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> {
             co_await a.send_to(bytes_of("0123456789"), a.local_address());
             co_await receives(stage, a, 4);
             co_await a.send_to(bytes_of("next"), a.local_address());
             co_await receives(stage, a, 4);
           });
           stage.run();
           CHECK(stage.log == Log{"0123 (cut)", "next"});
         }},
        {"UdpSocket: an empty datagram is one",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> {
             stage.note(std::to_string(co_await a.send_to(std::span<std::byte>(), a.local_address())));
             co_await receives(stage, a);
           });
           stage.run();
           CHECK(stage.log == Log{"0", ""});
         }},
        {"UdpSocket: connected, it sends by itself, and learns that nobody is there",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           std::uint16_t nobody = 0;
           {
             const UdpSocket gone = UdpSocket::bind(Address::loopback(0));
             nobody = gone.local_address().port();
           }
           a.connect(Address::loopback(nobody));
           stage.submit([&]() -> Task<> {
             co_await a.send(bytes_of("x"));
             co_await receives(stage, a);
           });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("Connection refused"));
         }},
        {"UdpSocket: one that is too large is an error",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> {
             const std::string huge(70'000, 'x');
             co_await a.send_to(bytes_of(huge), a.local_address());
           });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("Message too long"));
         }},
        {"UdpSocket: batches are sent and received in order",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> {
             std::vector<OutgoingDatagram> out;
             for (const char* text : {"one", "two", "three"})
               out.push_back({bytes_of(text), a.local_address()});
             stage.note(std::to_string(co_await a.send_batch(out)));
             std::vector<std::string> memory(5, std::string(10, '\0'));
             std::vector<IncomingDatagram> in;
             for (std::string& text : memory) in.push_back({.room = room(text)});
             std::size_t came = 0;
             while (came < 3) came += co_await a.recv_batch(std::span(in).subspan(came));
             for (std::size_t number = 0; number < came; ++number)
               stage.note(memory[number].substr(0, in[number].received.size));
           });
           stage.run();
           CHECK(stage.log == Log{"3", "one", "two", "three"});
         }},
        {"UdpSocket: a close ends the receive that waits",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> { co_await receives(stage, a); });
           stage.submit([&]() -> Task<> {
             co_await Sleep(1ms);
             co_await a.close();
           });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("canceled"));
         }},
        {"UdpSocket: a receive that times out loses no datagram",
         [](Stage& stage) {
           UdpSocket a = UdpSocket::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> {
             const auto result = co_await try_timeout(2ms, receives(stage, a));
             stage.note(result ? "received" : "timed out");
             co_await a.send_to(bytes_of("kept"), a.local_address());
             co_await receives(stage, a);
           });
           stage.run();
           CHECK(stage.log == Log{"timed out", "kept"});
         }},
    });

const Behaviours unix_behaviours(
    Under::all_faults,
    {
        {"UnixStream: what is written arrives, then the end",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             auto [a, b] = UnixStream::pair();
             co_await a.write_all(bytes_of("hello"));
             a.shutdown_write();
             std::string memory(5, '\0');
             co_await b.read_exactly(room(memory));
             stage.note(memory);
             stage.note(std::to_string(co_await b.read(room(memory))));
           });
           stage.run();
           CHECK(stage.log == Log{"hello", "0"});
         }},
        {"UnixListener: accepts by path, and removes the path it made",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const Address address = Address::unix_path(folder / "socket");
           stage.submit([&]() -> Task<> {
             UnixListener listener = UnixListener::bind(address);
             stage.note(std::filesystem::exists(folder / "socket") ? "there" : "missing");
             UnixStream client = co_await UnixStream::connect(address);
             UnixStream server = co_await listener.accept();
             co_await client.write_all(bytes_of("x"));
             std::string memory(1, '\0');
             co_await server.read_exactly(room(memory));
             stage.note(memory);
             co_await listener.close();
             stage.note(std::filesystem::exists(folder / "socket") ? "still there" : "gone");
           });
           stage.run();
           CHECK(stage.log == Log{"there", "x", "gone"});
         }},
        {"UnixListener: accepts by an abstract name",
         [](Stage& stage) {
           const Address address = Address::unix_abstract("bide-contract-" + std::to_string(::getpid()));
           stage.submit([&]() -> Task<> {
             UnixListener listener = UnixListener::bind(address);
             UnixStream client = co_await UnixStream::connect(address);
             UnixStream server = co_await listener.accept();
             stage.note("connected");
           });
           stage.run();
           CHECK(stage.log == Log{"connected"});
         }},
        {"UnixStream: connect to a path where nobody listens is an error that names it",
         [](Stage& stage) {
           const TemporaryFolder folder;
           stage.submit([&]() -> Task<> {
             const UnixStream stream = co_await UnixStream::connect(Address::unix_path(folder / "none"));
           });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("connect to unix:") && Catch::Contains("No such file"));
         }},
        {"UnixStream: connect waits while the listener's queue is full, and is never told to try again",
         [](Stage& stage) {
           const Address address = Address::unix_abstract("bide-full-" + std::to_string(::getpid()));
           stage.submit([&]() -> Task<> {
             UnixListener listener = UnixListener::bind(address, {.backlog = 1});
             const auto connects = [](Stage& on, Address to) -> Task<> {
               const UnixStream stream = co_await UnixStream::connect(to);
               on.note("connected");
             };
             std::vector<Handle<>> connecting;
             for (int number = 0; number < 5; ++number)
               connecting.push_back(submit({}, connects, std::ref(stage), address));
             co_await Sleep(20ms);
             for (int number = 0; number < 5; ++number) const UnixStream server = co_await listener.accept();
             for (Handle<>& handle : connecting) co_await handle;
           });
           stage.run();
           CHECK(stage.log == Log(5, "connected"));
         }},
        {"UnixStream: a write to a peer that is gone is EPIPE, and no signal",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             auto [a, b] = UnixStream::pair();
             co_await b.close();
             try {
               co_await a.write_all(bytes_of("x"));
             } catch (const std::system_error& error) {
               stage.note(error.code() == std::errc::broken_pipe ? "broken pipe" : error.what());
             }
           });
           stage.run();
           CHECK(stage.log == Log{"broken pipe"});
         }},
        {"UnixStream: a slow reader holds the writer up, and neither sees that",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             auto [a, b] = UnixStream::pair();
             const auto writes = [](UnixStream& to) -> Task<> {
               const std::string text(500'000, 'u');
               co_await to.write_all(bytes_of(text));
               to.shutdown_write();
             };
             Handle<> writing = submit({}, writes, std::ref(a));
             std::string memory(3000, '\0');
             std::size_t sum = 0;
             for (;;) {
               const std::size_t came = co_await b.read(room(memory));
               if (came == 0) break;
               sum += came;
             }
             co_await writing;
             stage.note(std::to_string(sum));
           });
           stage.run();
           CHECK(stage.log == Log{"500000"});
         }},
        {"UnixDatagram: a sender waits while others have filled the receiver's queue",
         [](Stage& stage) {
           const Address address = Address::unix_abstract("bide-queue-" + std::to_string(::getpid()));
           stage.submit([&]() -> Task<> {
             UnixDatagram receiver = UnixDatagram::bind(address);
             const auto sends = [](int count, Address to) -> Task<> {
               UnixDatagram sender = UnixDatagram::unbound();
               for (int number = 0; number < count; ++number) co_await sender.send_to(bytes_of("x"), to);
             };
             Handle<> many = submit({}, sends, 30, address);
             co_await Sleep(2ms);
             Handle<> one = submit({}, sends, 1, address);
             co_await Sleep(2ms);
             int came = 0;
             std::string memory(10, '\0');
             for (int number = 0; number < 31; ++number) {
               const ReceivedDatagram datagram = co_await receiver.recv_from(room(memory));
               came += datagram.size == 1 ? 1 : 0;
             }
             co_await many;
             co_await one;
             stage.note(std::to_string(came));
           });
           stage.run();
           CHECK(stage.log == Log{"31"});
         }},
        {"UnixDatagram: keeps order and bounds, and loses none when the receiver is slow",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const Address address = Address::unix_path(folder / "socket");
           stage.submit([&]() -> Task<> {
             UnixDatagram receiver = UnixDatagram::bind(address);
             UnixDatagram sender = UnixDatagram::unbound();
             const auto sends = [](UnixDatagram& from, Address to) -> Task<> {
               for (int number = 0; number < 600; ++number) {
                 const std::string text = std::to_string(number);
                 co_await from.send_to(bytes_of(text), to);
               }
             };
             Handle<> sending = submit({}, sends, std::ref(sender), address);
             co_await Sleep(2ms);
             bool in_order = true;
             std::string memory(10, '\0');
             for (int number = 0; number < 600; ++number) {
               const ReceivedDatagram datagram = co_await receiver.recv_from(room(memory));
               in_order = in_order && memory.substr(0, datagram.size) == std::to_string(number);
             }
             co_await sending;
             stage.note(in_order ? "in order" : "out of order");
           });
           stage.run();
           CHECK(stage.log == Log{"in order"});
         }},
    });

}  // namespace
