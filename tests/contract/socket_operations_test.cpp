#include <poll.h>
#include <array>
#include <cerrno>
#include <string>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;
using Kind = Operation::Kind;

namespace {

Request accepting(int descriptor) {
  return {.kind = Kind::accept, .descriptor = descriptor, .flags = SOCK_CLOEXEC};
}
Request connecting(int descriptor, const sockaddr_in& address) {
  return {.kind = Kind::connect, .descriptor = descriptor, .memory = &address, .length = sizeof address};
}
Plain new_socket(int type = SOCK_STREAM) { return Plain(::socket(AF_INET, type | SOCK_CLOEXEC, 0)); }

/// Calls `function` once nothing but this thread has anything to do.
template <class F>
void later(Stage& stage, F function) {
  stage.submit([function]() -> Task<> {
    co_await Sleep(2ms);
    function();
  });
}

void drop_connection(Plain& end) {
  const linger at_once{1, 0};
  checked(::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  end.close();
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

const Behaviours receive_behaviours(
    Under::delays,
    {
        {"receive: gives what is there, less than was asked for",
         [](Stage& stage) {
           const TcpEnds ends;
           ::send(ends.client.get(), "hello", 5, 0);
           std::array<char, 64> memory{};
           stage.call("receive", receiving(ends.server.get(), memory));
           stage.run();
           CHECK(stage.log == Log{"receive: 5"});
           CHECK(std::string(memory.data()) == "hello");
         }},
        {"receive: waits",
         [](Stage& stage) {
           const TcpEnds ends;
           std::array<char, 64> memory{};
           stage.call("receive", receiving(ends.server.get(), memory));
           later(stage, [&] {
             stage.note("send");
             ::send(ends.client.get(), "abc", 3, 0);
           });
           stage.run();
           CHECK(stage.log == Log{"send", "receive: 3"});
         }},
        {"receive: gives 0 at the end of the stream, again and again",
         [](Stage& stage) {
           const TcpEnds ends;
           ::shutdown(ends.client.get(), SHUT_WR);
           std::array<char, 64> memory{};
           for (int round = 0; round < 3; ++round) {
             stage.call("receive", receiving(ends.server.get(), memory));
             stage.run();
           }
           CHECK(stage.log == Log(3, "receive: 0"));
         }},
        {"receive: gives what came before the end first",
         [](Stage& stage) {
           TcpEnds ends;
           ::send(ends.client.get(), "last words", 10, 0);
           ends.client.close();
           std::array<char, 64> memory{};
           stage.call("receive", receiving(ends.server.get(), memory));
           stage.run();
           stage.call("receive", receiving(ends.server.get(), memory));
           stage.run();
           CHECK(stage.log == Log{"receive: 10", "receive: 0"});
         }},
        {"receive: a reset by the peer while it waits",
         [](Stage& stage) {
           TcpEnds ends;
           std::array<char, 64> memory{};
           stage.call("receive", receiving(ends.server.get(), memory));
           later(stage, [&] { drop_connection(ends.client); });
           stage.run();
           CHECK(stage.log == Log{"receive: ECONNRESET"});
         }},
        {"receive: on a socket that is not connected is an error",
         [](Stage& stage) {
           const Plain socket = new_socket();
           std::array<char, 8> memory{};
           stage.call("receive", receiving(socket.get(), memory));
           stage.run();
           CHECK(stage.log == Log{"receive: ENOTCONN"});
         }},
        {"receive: on what is no socket is an error",
         [](Stage& stage) {
           const Ends pipe = Ends::pipe();
           std::array<char, 8> memory{};
           stage.call("receive", receiving(pipe[0], memory));
           stage.run();
           CHECK(stage.log == Log{"receive: ENOTSOCK"});
         }},
        {"receive: a cancel leaves the bytes to the next one",
         [](Stage& stage) {
           const TcpEnds ends;
           std::array<char, 64> memory{};
           Handle<> handle = stage.call("first", receiving(ends.server.get(), memory));
           later(stage, [&] { handle.cancel(); });
           stage.run();
           ::send(ends.client.get(), "kept", 4, 0);
           stage.call("second", receiving(ends.server.get(), memory));
           stage.run();
           CHECK(stage.log == Log{"first: cancelled", "second: 4"});
         }},
        {"receive: a cancel in the instant of the data takes nothing away",
         [](Stage& stage) {
           const TcpEnds ends;
           std::array<char, 64> memory{};
           Handle<> handle = stage.call("first", receiving(ends.server.get(), memory));
           later(stage, [&] {
             ::send(ends.client.get(), "kept", 4, 0);
             handle.cancel();
           });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           if (stage.log[0] == "first: cancelled") {
             stage.call("first", receiving(ends.server.get(), memory));
             stage.run();
           }
           CHECK(stage.log.back() == "first: 4");
         }},
        {"receive: MSG_PEEK leaves what it shows",
         [](Stage& stage) {
           const TcpEnds ends;
           ::send(ends.client.get(), "look", 4, 0);
           std::array<char, 64> memory{};
           Request peek = receiving(ends.server.get(), memory);
           peek.flags = MSG_PEEK;
           stage.call("peek", peek);
           stage.run();
           stage.call("receive", receiving(ends.server.get(), memory));
           stage.run();
           CHECK(stage.log == Log{"peek: 4", "receive: 4"});
         }},
        {"receive: after shutdown of our own side ends at once",
         [](Stage& stage) {
           const TcpEnds ends;
           std::array<char, 64> memory{};
           stage.call("receive", receiving(ends.server.get(), memory));
           later(stage, [&] { ::shutdown(ends.server.get(), SHUT_RD); });
           stage.run();
           CHECK(stage.log == Log{"receive: 0"});
         }},
        {"receive: keeps the bounds of datagrams, cut to the memory given",
         [](Stage& stage) {
           const Ends ends = Ends::sockets(SOCK_DGRAM);
           ::send(ends[1], "abcdef", 6, 0);
           ::send(ends[1], "xy", 2, 0);
           std::array<char, 4> memory{};
           stage.call("receive", receiving(ends[0], memory));
           stage.run();
           stage.call("receive", receiving(ends[0], memory));
           stage.run();
           CHECK(stage.log == Log{"receive: 4", "receive: 2"});
         }},
        {"receive: an empty datagram gives 0",
         [](Stage& stage) {
           const Ends ends = Ends::sockets(SOCK_DGRAM);
           ::send(ends[1], "", 0, 0);
           std::array<char, 4> memory{};
           stage.call("receive", receiving(ends[0], memory));
           stage.run();
           CHECK(stage.log == Log{"receive: 0"});
         }},
        {"receive: two directions of one socket do not hold each other up",
         [](Stage& stage) {
           const TcpEnds ends;
           std::array<char, 64> memory{};
           stage.call("receive", receiving(ends.server.get(), memory));
           stage.call("send", sending(ends.server.get(), "out"));
           later(stage, [&] { ::send(ends.client.get(), "in", 2, 0); });
           stage.run();
           CHECK(stage.log == Log{"send: 3", "receive: 2"});
         }},
        {"receive: into a shared buffer gives it back for the next",
         [](Stage& stage) {
           const TcpEnds ends;
           std::string got;
           stage.submit([&]() -> Task<> {
             for (int round = 0; round < 3; ++round) {
               ::send(ends.client.get(), "data", 4, 0);
               RawCall call({.kind = Kind::receive, .descriptor = ends.server.get(), .takes_buffer = true});
               const std::int64_t result = co_await call;
               if (result <= 0) co_return;
               Driver& driver = driver_of(Executor::current());
               got.append(reinterpret_cast<const char*>(driver.buffer(call.taken()).data()),
                          static_cast<std::size_t>(result));
               driver.give_back(call.taken());
             }
           });
           stage.run();
           CHECK(got == "datadatadata");
         },
         {.buffer_count = 1}},
        {"receive: into shared buffers, more streams than buffers all get their turn",
         [](Stage& stage) {
           std::vector<Ends> streams;
           for (int number = 0; number < 20; ++number) streams.push_back(Ends::sockets());
           int got = 0;
           for (const Ends& ends : streams) {
             stage.submit([&]() -> Task<> {
               RawCall call({.kind = Kind::receive, .descriptor = ends[0], .takes_buffer = true});
               const std::int64_t result = co_await call;
               if (result != 1) co_return;
               ++got;
               co_await Yield();
               driver_of(Executor::current()).give_back(call.taken());
             });
           }
           later(stage, [&] {
             for (const Ends& ends : streams) ::send(ends[1], "x", 1, 0);
           });
           stage.run();
           CHECK(got == 20);
           CHECK(stage.counts().out_of_buffers > 0);
         },
         {.buffer_count = 2}},
        {"receive: into a shared buffer gives 0 at the end, and no buffer",
         [](Stage& stage) {
           Ends ends = Ends::sockets();
           ends.close(1);
           for (int round = 0; round < 4; ++round) {
             stage.call("end", {.kind = Kind::receive, .descriptor = ends[0], .takes_buffer = true});
             stage.run();
           }
           CHECK(stage.log == Log(4, "end: 0"));
         },
         {.buffer_count = 1}},
    });

const Behaviours send_behaviours(
    Under::delays, {
                       {"send: gives how much the kernel took",
                        [](Stage& stage) {
                          const TcpEnds ends;
                          stage.call("send", sending(ends.client.get(), "hello"));
                          stage.run();
                          CHECK(stage.log == Log{"send: 5"});
                          std::array<char, 8> memory{};
                          CHECK(::recv(ends.server.get(), memory.data(), memory.size(), 0) == 5);
                        }},
                       {"send: waits for room, and never says to try again",
                        [](Stage& stage) {
                          const TcpEnds ends;
                          const std::string much(1 << 20, 'x');
                          std::size_t sent = 0;
                          std::size_t received = 0;
                          stage.submit([&]() -> Task<> {
                            while (sent < 4 * much.size()) {
                              const std::int64_t result = co_await RawCall(sending(ends.client.get(), much));
                              if (result <= 0) stage.note(shown(result));
                              if (result <= 0) break;
                              sent += static_cast<std::size_t>(result);
                            }
                            ::shutdown(ends.client.get(), SHUT_WR);
                          });
                          stage.submit([&]() -> Task<> {
                            std::vector<char> memory(100'000);
                            for (;;) {
                              const std::int64_t result =
                                  co_await RawCall(receiving(ends.server.get(), memory));
                              if (result <= 0) break;
                              received += static_cast<std::size_t>(result);
                            }
                          });
                          stage.run();
                          CHECK(stage.log.empty());
                          CHECK(sent >= 4 * much.size());
                          CHECK(received == sent);
                        }},
                       {"send: to a peer that is gone is an error, and no signal",
                        [](Stage& stage) {
                          Ends ends = Ends::sockets();
                          ends.close(1);
                          stage.call("send", sending(ends[0], "x"));
                          stage.run();
                          CHECK(stage.log == Log{"send: EPIPE"});
                        }},
                       {"send: after our own shutdown is an error",
                        [](Stage& stage) {
                          const TcpEnds ends;
                          ::shutdown(ends.client.get(), SHUT_WR);
                          stage.call("send", sending(ends.client.get(), "x"));
                          stage.run();
                          CHECK(stage.log == Log{"send: EPIPE"});
                        }},
                       {"send: on a socket that is not connected is an error",
                        [](Stage& stage) {
                          const Plain socket = new_socket();
                          stage.call("send", sending(socket.get(), "x"));
                          stage.run();
                          CHECK((stage.log == Log{"send: EPIPE"} || stage.log == Log{"send: ENOTCONN"}));
                        }},
                       {"send: cancelled while the peer does not read",
                        [](Stage& stage) {
                          const Ends ends = Ends::sockets();
                          const std::string much(1 << 22, 'x');
                          stage.submit([&]() -> Task<> {
                            for (;;) co_await RawCall(sending(ends[0], much));
                          });
                          Handle<> handle = stage.submit([&]() -> Task<> {
                            for (;;) co_await RawCall(sending(ends[0], much));
                          });
                          later(stage, [&] { stage.executor.stop(); });
                          stage.run();
                          CHECK(handle.done());
                        }},
                       {"send: a datagram goes whole or not at all",
                        [](Stage& stage) {
                          const Ends ends = Ends::sockets(SOCK_DGRAM);
                          const std::string huge(10 << 20, 'x');
                          stage.call("huge", sending(ends[0], huge));
                          stage.call("small", sending(ends[0], "small"));
                          stage.run();
                          CHECK(stage.log == Log{"huge: EMSGSIZE", "small: 5"});
                        }},
                       {"send: a reset by the peer is told",
                        [](Stage& stage) {
                          TcpEnds ends;
                          drop_connection(ends.server);
                          stage.call("send", sending(ends.client.get(), "x"));
                          stage.run();
                          stage.call("send", sending(ends.client.get(), "x"));
                          stage.run();
                          CHECK(stage.log == Log{"send: ECONNRESET", "send: EPIPE"});
                        }},
                   });

struct Message {
  explicit Message(std::string_view first, std::string_view second)
      : text{std::string(first), std::string(second)} {
    for (std::size_t part = 0; part < 2; ++part) parts[part] = {text[part].data(), text[part].size()};
    header.msg_iov = parts;
    header.msg_iovlen = 2;
  }
  std::string text[2];
  iovec parts[2]{};
  msghdr header{};
};

const Behaviours message_behaviours(
    Under::delays,
    {
        {"send_message: gathers its parts, and receive_message scatters them",
         [](Stage& stage) {
           const Ends ends = Ends::sockets(SOCK_DGRAM);
           Message out("abc", "defgh");
           Message in("....", "....");
           stage.call("out", {.kind = Kind::send_message, .descriptor = ends[0], .memory = &out.header});
           stage.run();
           stage.call("in", {.kind = Kind::receive_message, .descriptor = ends[1], .memory = &in.header});
           stage.run();
           CHECK(stage.log == Log{"out: 8", "in: 8"});
           CHECK(in.text[0] + "|" + in.text[1] == "abcd|efgh");
         }},
        {"receive_message: waits, and tells who sent",
         [](Stage& stage) {
           const Plain server = new_socket(SOCK_DGRAM);
           sockaddr_in address{};
           address.sin_family = AF_INET;
           address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
           checked(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
           socklen_t length = sizeof address;
           checked(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &length));
           const Plain client = new_socket(SOCK_DGRAM);
           Message in("....", "....");
           sockaddr_in from{};
           in.header.msg_name = &from;
           in.header.msg_namelen = sizeof from;
           stage.call("in",
                      {.kind = Kind::receive_message, .descriptor = server.get(), .memory = &in.header});
           later(stage, [&] {
             ::sendto(client.get(), "hi", 2, 0, reinterpret_cast<sockaddr*>(&address), sizeof address);
           });
           stage.run();
           CHECK(stage.log == Log{"in: 2"});
           CHECK(from.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
           CHECK(from.sin_port != 0);
         }},
        {"receive_message: says when a datagram was cut",
         [](Stage& stage) {
           const Ends ends = Ends::sockets(SOCK_DGRAM);
           ::send(ends[0], "0123456789", 10, 0);
           Message in("....", "....");
           stage.call("in", {.kind = Kind::receive_message, .descriptor = ends[1], .memory = &in.header});
           stage.run();
           CHECK(stage.log == Log{"in: 8"});
           CHECK((in.header.msg_flags & MSG_TRUNC) != 0);
         }},
        {"receive_message: cancelled",
         [](Stage& stage) {
           const Ends ends = Ends::sockets(SOCK_DGRAM);
           Message in("....", "....");
           Handle<> handle =
               stage.call("in", {.kind = Kind::receive_message, .descriptor = ends[1], .memory = &in.header});
           later(stage, [&] { handle.cancel(); });
           stage.run();
           CHECK(stage.log == Log{"in: cancelled"});
         }},
        {"send_message: to a peer that is gone is an error, and no signal",
         [](Stage& stage) {
           Ends ends = Ends::sockets();
           ends.close(1);
           Message out("abc", "def");
           stage.call("out", {.kind = Kind::send_message, .descriptor = ends[0], .memory = &out.header});
           stage.run();
           CHECK(stage.log == Log{"out: EPIPE"});
         }},
    });

}  // namespace
