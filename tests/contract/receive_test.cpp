#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

// Single receives, also into shared buffers.

using namespace bide;
using namespace bide::test;
using Kind = Operation::Kind;

namespace {

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

}  // namespace
