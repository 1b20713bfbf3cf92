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

const Behaviours stream_behaviours(
    Under::all_faults,
    {
        {"TcpStream: what is written arrives, then the end",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             const std::string text = counting(3000);
             Handle<> writing = submit(writes(pair.client, text));
             const std::string got = co_await read_to_end(pair.server);
             co_await writing;
             on.note(got == text ? "same" : "differs");
           });
           CHECK(stage.log == Log{"same"});
         }},
        {"TcpStream: a slow reader holds the writer up, and neither sees that",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             pair.client.set_send_buffer_bytes(4096);
             pair.server.set_receive_buffer_bytes(4096);
             const std::string text = counting(200'000);
             Handle<> writing = submit(writes(pair.client, text));
             const std::string got = co_await read_to_end(pair.server, 100);
             co_await writing;
             on.note(got == text ? "same" : "differs");
           });
           CHECK(stage.log == Log{"same"});
         }},
        {"TcpStream: both directions at once",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             const std::string text = counting(20'000);
             Handle<> there = submit(writes(pair.client, text));
             Handle<> back = submit(writes(pair.server, text));
             Handle<std::string> at_client = submit(read_to_end(pair.client));
             const std::string got = co_await read_to_end(pair.server);
             const std::string answer = co_await at_client;
             co_await there;
             co_await back;
             on.note(got == text && answer == text ? "same" : "differs");
           });
           CHECK(stage.log == Log{"same"});
         }},
        {"TcpStream: read and write of an empty span give 0, and are not the end",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             on.note(std::to_string(co_await pair.client.read(std::span<std::byte>())));
             on.note(std::to_string(co_await pair.client.write(std::span<std::byte>())));
             on.note(std::to_string(co_await pair.client.write_all(std::span<std::byte>())));
             on.note(std::to_string(co_await pair.client.read_exactly(std::span<std::byte>())));
             co_await pair.server.write_all(bytes_of("x"));
             co_await reads_one(on, pair.client, "then");
           });
           CHECK(stage.log == Log{"0", "0", "0", "0", "then: 1"});
         }},
        {"TcpStream: read_exactly fills its span over many pieces",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             const auto in_pieces = [](TcpStream& stream) -> Task<> {
               for (int piece = 0; piece < 10; ++piece) {
                 co_await stream.write_all(bytes_of("0123456789"));
                 co_await Yield();
               }
             };
             Handle<> writing = submit({}, in_pieces, std::ref(pair.server));
             std::string memory(100, '\0');
             on.note(std::to_string(co_await pair.client.read_exactly(room(memory))));
             on.note(memory.substr(95));
             co_await writing;
           });
           CHECK(stage.log == Log{"100", "56789"});
         }},
        {"TcpStream: read_exactly over the end is an error that says how much had come",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             co_await pair.server.write_all(bytes_of("abc"));
             pair.server.shutdown_write();
             std::string memory(10, '\0');
             try {
               co_await pair.client.read_exactly(room(memory));
             } catch (const std::system_error& error) {
               on.note(error.code() == IoError::end_of_stream ? "end of stream" : "another code");
               on.note(std::string(error.what()).find("of which 3 came") != std::string::npos ? "says 3"
                                                                                              : error.what());
             }
           });
           CHECK(stage.log == Log{"end of stream", "says 3"});
         }},
        {"TcpStream: the end of the stream is told again and again",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             pair.server.shutdown_write();
             for (int round = 0; round < 3; ++round) co_await reads_one(on, pair.client, "read");
           });
           CHECK(stage.log == Log{"read: 0", "read: 0", "read: 0"});
         }},
        {"TcpStream: after shutdown_write the other direction goes on",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             pair.client.shutdown_write();
             co_await reads_one(on, pair.server, "server");
             co_await pair.server.write_all(bytes_of("answer"));
             std::string memory(6, '\0');
             co_await pair.client.read_exactly(room(memory));
             on.note(memory);
           });
           CHECK(stage.log == Log{"server: 0", "answer"});
         }},
        {"TcpStream: a write after shutdown_write is EPIPE, and no signal",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             pair.client.shutdown_write();
             try {
               co_await pair.client.write_all(bytes_of("x"));
             } catch (const std::system_error& error) {
               on.note(error.code() == std::errc::broken_pipe ? "broken pipe" : error.what());
             }
           });
           CHECK(stage.log == Log{"broken pipe"});
         }},
        {"TcpStream: writes to a peer that closed end in an error that names it",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             const std::string name = pair.client.name();
             co_await pair.server.close();
             try {
               for (int round = 0; round < 100; ++round) {
                 co_await pair.client.write_all(bytes_of("x"));
                 co_await Sleep(1ms);
               }
             } catch (const std::system_error& error) {
               on.note(error.code() == std::errc::broken_pipe || error.code() == std::errc::connection_reset
                           ? "gone"
                           : error.what());
               on.note(std::string(error.what()).find("write to " + name) == 0 ? "named" : error.what());
             }
           });
           REQUIRE(stage.log.size() == 2);
           CHECK(stage.log[0] == "gone");
         }},
        {"TcpStream: a reset while a read waits is an error that names call and peer",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             const std::string name = pair.client.name();
             Handle<> reading = submit(reads_one(on, pair.client, "read"));
             co_await Sleep(1ms);
             pair.server.set_linger(0s);
             co_await pair.server.close();
             co_await reading;
           });
           CHECK(stage.log == Log{"read: Connection reset by peer"});
         }},
        {"TcpStream: of two reads at a time each gets bytes",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             Handle<> first = submit(reads_one(on, pair.client, "read"));
             Handle<> second = submit(reads_one(on, pair.client, "read"));
             for (const char* text : {"x", "y"}) {
               co_await Sleep(1ms);
               const std::size_t before = on.log.size();
               co_await pair.server.write_all(bytes_of(text));
               while (on.log.size() == before) co_await Sleep(100us);
             }
             co_await first;
             co_await second;
           });
           CHECK(stage.log == Log{"read: 1", "read: 1"});
         }},
        {"TcpStream: all that came before a close is read first",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             const std::string text = counting(10'000);
             co_await pair.server.write_all(bytes_of(text));
             co_await pair.server.close();
             co_await Sleep(1ms);
             const std::string got = co_await read_to_end(pair.client);
             on.note(got == text ? "same" : "differs");
           });
           CHECK(stage.log == Log{"same"});
         }},
    });

}  // namespace
