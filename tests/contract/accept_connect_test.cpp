#include <poll.h>
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

// Single accepts and connects.

using namespace bide;
using namespace bide::test;
using Kind = Operation::Kind;

namespace {

Request accepting(int descriptor) {
  return {.kind = Kind::accept, .descriptor = descriptor, .flags = SOCK_CLOEXEC};
}
Request connecting(int descriptor, const sockaddr_in& address) {
  return {.kind = Kind::connect, .descriptor = descriptor, .memory = &address, .length = sizeof address};
}

const Behaviours accept_behaviours(
    Under::delays,
    {
        {"accept: takes a connection that is there",
         [](Stage& stage) {
           const PlainListener listener;
           const Plain client = listener.connected();
           std::int64_t result = -1;
           stage.submit([&]() -> Task<> { result = co_await RawCall(accepting(listener.get())); });
           stage.run();
           REQUIRE(result >= 0);
           const Plain server(static_cast<int>(result));
           CHECK(::send(client.get(), "x", 1, 0) == 1);
           char byte = 0;
           CHECK(::recv(server.get(), &byte, 1, 0) == 1);
         }},
        {"accept: waits for a connection that comes later",
         [](Stage& stage) {
           const PlainListener listener;
           std::int64_t result = -1;
           stage.submit([&]() -> Task<> { result = co_await RawCall(accepting(listener.get())); });
           std::optional<Plain> client;
           later(stage, [&] { client.emplace(listener.connected()); });
           stage.run();
           REQUIRE(result >= 0);
           ::close(static_cast<int>(result));
         }},
        {"accept: the connection is close-on-exec and blocks",
         [](Stage& stage) {
           const PlainListener listener;
           const Plain client = listener.connected();
           std::int64_t result = -1;
           stage.submit([&]() -> Task<> { result = co_await RawCall(accepting(listener.get())); });
           stage.run();
           REQUIRE(result >= 0);
           const Plain server(static_cast<int>(result));
           CHECK((::fcntl(server.get(), F_GETFD) & FD_CLOEXEC) != 0);
           CHECK((::fcntl(server.get(), F_GETFL) & O_NONBLOCK) == 0);
         }},
        {"accept: several on one listener each get one connection",
         [](Stage& stage) {
           const PlainListener listener;
           std::vector<int> got;
           for (int number = 0; number < 5; ++number) {
             stage.submit([&]() -> Task<> {
               const std::int64_t result = co_await RawCall(accepting(listener.get()));
               got.push_back(static_cast<int>(result));
             });
           }
           std::vector<Plain> clients;
           later(stage, [&] {
             for (int number = 0; number < 5; ++number) clients.push_back(listener.connected());
           });
           stage.run();
           CHECK(got.size() == 5);
           std::sort(got.begin(), got.end());
           CHECK(std::adjacent_find(got.begin(), got.end()) == got.end());
           CHECK(got.front() >= 0);
           for (const int number : got) ::close(number);
         }},
        {"accept: a cancelled one takes no connection",
         [](Stage& stage) {
           const PlainListener listener;
           Handle<> handle = stage.call("accept", accepting(listener.get()));
           later(stage, [&] { handle.cancel(); });
           stage.run();
           CHECK(stage.log == Log{"accept: cancelled"});
           const Plain client = listener.connected();
           pollfd watched{listener.get(), POLLIN, 0};
           CHECK(::poll(&watched, 1, 1000) == 1);
         }},
        {"accept: on what does not listen is an error",
         [](Stage& stage) {
           const Plain socket = new_socket();
           stage.call("accept", accepting(socket.get()));
           stage.run();
           CHECK(stage.log == Log{"accept: EINVAL"});
         }},
        {"accept: on what is no socket is an error",
         [](Stage& stage) {
           const Ends pipe = Ends::pipe();
           stage.call("accept", accepting(pipe[0]));
           stage.run();
           CHECK(stage.log == Log{"accept: ENOTSOCK"});
         }},
        {"accept: on a descriptor that is not open is an error",
         [](Stage& stage) {
           stage.call("accept", accepting(1'000'000));
           stage.run();
           CHECK(stage.log == Log{"accept: EBADF"});
         }},
    });

const Behaviours connect_behaviours(
    Under::delays,
    {
        {"connect: gives 0 when the peer has answered",
         [](Stage& stage) {
           const PlainListener listener;
           const Plain socket = new_socket();
           stage.call("connect", connecting(socket.get(), listener.address));
           stage.run();
           CHECK(stage.log == Log{"connect: 0"});
           const Plain server = listener.accepted();
           CHECK(::send(socket.get(), "x", 1, MSG_NOSIGNAL) == 1);
         }},
        {"connect: is refused where nobody listens",
         [](Stage& stage) {
           PlainListener listener;
           listener.close();
           const Plain socket = new_socket();
           stage.call("connect", connecting(socket.get(), listener.address));
           stage.run();
           CHECK(stage.log == Log{"connect: ECONNREFUSED"});
         }},
        {"connect: leaves the socket blocking",
         [](Stage& stage) {
           const PlainListener listener;
           const Plain socket = new_socket();
           stage.call("connect", connecting(socket.get(), listener.address));
           stage.run();
           CHECK((::fcntl(socket.get(), F_GETFL) & O_NONBLOCK) == 0);
         }},
        {"connect: again on a connected socket is an error",
         [](Stage& stage) {
           const PlainListener listener;
           const Plain socket = listener.connected();
           stage.call("connect", connecting(socket.get(), listener.address));
           stage.run();
           CHECK(stage.log == Log{"connect: EISCONN"});
         }},
        {"connect: of a datagram socket is immediate",
         [](Stage& stage) {
           const PlainListener listener;
           const Plain socket = new_socket(SOCK_DGRAM);
           stage.call("connect", connecting(socket.get(), listener.address));
           stage.run();
           CHECK(stage.log == Log{"connect: 0"});
         }},
        {"connect: many at a time all come through",
         [](Stage& stage) {
           const PlainListener listener(128);
           std::vector<Plain> sockets;
           for (int number = 0; number < 50; ++number) sockets.push_back(new_socket());
           for (const Plain& socket : sockets)
             stage.call("connect", connecting(socket.get(), listener.address));
           stage.run();
           CHECK(stage.log == Log(50, "connect: 0"));
         }},
        {"connect: cancelled while nobody answers",
         [](Stage& stage) {
           // 0 waiting connections more, so that the kernel drops what a connect sends.
           const PlainListener listener(0);
           std::vector<Plain> sockets;
           std::vector<Handle<>> handles;
           for (int number = 0; number < 8; ++number) sockets.push_back(new_socket());
           for (const Plain& socket : sockets)
             handles.push_back(stage.call("connect", connecting(socket.get(), listener.address)));
           later(stage, [&] {
             for (Handle<>& handle : handles) handle.cancel();
           });
           stage.run();
           CHECK(stage.log.size() == 8);
           CHECK(std::count(stage.log.begin(), stage.log.end(), "connect: cancelled") > 0);
         }},
    });

}  // namespace
