#include <netinet/tcp.h>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/scope/timeout.hpp>

#include "tcp_pair.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

const Behaviours connect_behaviours(
    Under::all_faults,
    {
        {"TcpStream: connect and accept know each other by address",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             if (pair.client.peer_address() == pair.server.local_address()) on.note("there");
             if (pair.server.peer_address() == pair.client.local_address()) on.note("back");
             co_return;
           });
           CHECK(stage.log == Log{"there", "back"});
         }},
        {"TcpStream: connect where nobody listens is an error that names call and address",
         [](Stage& stage) {
           PlainListener listener;
           listener.close();
           stage.submit([&]() -> Task<> {
             const TcpStream stream = co_await TcpStream::connect(Address::loopback(listener.port()));
           });
           stage.run();
           CHECK(stage.log == Log{"error: connect to 127.0.0.1:" + std::to_string(listener.port()) +
                                  ": Connection refused"});
         }},
        {"TcpStream: connect over IPv6",
         [](Stage& stage) {
           int done = 0;
           stage.submit([&]() -> Task<> {
             TcpListener listener = TcpListener::bind(Address::loopback_ipv6(0));
             TcpStream client;
             Handle<> connecting = submit(connects(client, listener.local_address()));
             const TcpStream server = co_await listener.accept();
             co_await connecting;
             ++done;
           });
           stage.run();
           CHECK(stage.log.empty());
           CHECK(done == 1);
         }},
        {"TcpStream: connect under a timeout that passes is cancelled, and leaves no descriptor",
         [](Stage& stage) {
           const PlainListener listener(0);
           std::vector<Plain> fill;
           for (int number = 0; number < 2; ++number) {
             fill.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
             static_cast<void>(::connect(fill.back().get(),
                                         reinterpret_cast<const sockaddr*>(&listener.address),
                                         sizeof listener.address));
           }
           static_cast<void>(driver_of(stage.executor));
           const int before = descriptor_count();
           stage.submit([&]() -> Task<> {
             TcpStream stream;
             const auto result =
                 co_await try_timeout(5ms, connects(stream, Address::loopback(listener.port())));
             stage.note(result ? "connected" : "timed out");
           });
           stage.run();
           CHECK(stage.log == Log{"timed out"});
           CHECK(descriptor_count() == before);
         }},
        {"TcpStream: small writes are not held back, on either side",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             for (const TcpStream* stream : {&pair.client, &pair.server}) {
               int value = 0;
               socklen_t size = sizeof value;
               ::getsockopt(stream->number(), IPPROTO_TCP, TCP_NODELAY, &value, &size);
               on.note(std::to_string(value));
             }
             co_return;
           });
           CHECK(stage.log == Log{"1", "1"});
         }},
        {"TcpStream: its descriptors are close-on-exec and block, on both sides",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             for (const TcpStream* stream : {&pair.client, &pair.server}) {
               if ((::fcntl(stream->number(), F_GETFD) & FD_CLOEXEC) == 0) on.note("is not close-on-exec");
               if ((::fcntl(stream->number(), F_GETFL) & O_NONBLOCK) != 0) on.note("does not block");
             }
             co_return;
           });
           CHECK(stage.log.empty());
         }},
        {"TcpStream: one that was never connected is an error to use",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             TcpStream stream;
             std::string memory(10, '\0');
             co_await stream.read(room(memory));
           });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("Bad file descriptor"));
         }},
    });

}  // namespace
