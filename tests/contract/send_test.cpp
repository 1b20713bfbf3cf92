#include <sys/uio.h>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

// Single sends, and messages in parts.

using namespace bide;
using namespace bide::test;
using Kind = Operation::Kind;

namespace {

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
