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

const Behaviours cancel_behaviours(
    Under::all_faults,
    {
        {"TcpStream: a read that times out takes nothing, and the next one gets it",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             const auto result = co_await try_timeout(2ms, read_to_end(pair.client));
             on.note(result ? "read" : "timed out");
             co_await writes(pair.server, "kept");
             const std::string got = co_await read_to_end(pair.client);
             on.note(got);
           });
           CHECK(stage.log == Log{"timed out", "kept"});
         }},
        {"TcpStream: a write that is cancelled ends while the peer does not read",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             const std::string much = counting(1 << 20);
             const auto writes_on = [](TcpStream& stream, const std::string& text) -> Task<> {
               for (;;) co_await stream.write_all(bytes_of(text));
             };
             pair.client.set_send_buffer_bytes(4096);
             pair.server.set_receive_buffer_bytes(4096);
             const auto result = co_await try_timeout(10ms, writes_on(pair.client, much));
             on.note(result ? "written" : "timed out");
           });
           CHECK(stage.log == Log{"timed out"});
         }},
        {"TcpStream: a read cancelled before it began has no effect",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             co_await pair.server.write_all(bytes_of("kept"));
             Handle<> reading = submit(reads_one(on, pair.client, "cancelled before"));
             reading.cancel();
             co_await reading;
             co_await reads_one(on, pair.client, "then");
           });
           REQUIRE(stage.log.size() == 2);
           CHECK(stage.log[0] == "cancelled before: cancelled");
           CHECK(stage.log[1] != "then: 0");
         }},
        {"TcpStream: buffers may go as soon as a cancelled read has ended",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             for (int round = 0; round < 20; ++round) {
               auto memory = std::make_unique<std::string>(1000, '.');
               const auto reads = [](TcpStream& stream, std::string& into) -> Task<> {
                 co_await stream.read(room(into));
               };
               const auto result = co_await try_timeout(100us, reads(pair.client, *memory));
               if (result) on.note("read");
               std::fill(memory->begin(), memory->end(), 'p');
               co_await pair.server.write_all(bytes_of("z"));
               co_await Yield();
               if (memory->find('z') != std::string::npos) on.note("written to after the end");
               std::string rest(10, '\0');
               co_await pair.client.read(room(rest));
             }
           });
           CHECK(stage.log.empty());
         }},
        {"TcpStream: a close ends reads and writes that wait, before it returns",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             Handle<> reading = submit(reads_one(on, pair.client, "read"));
             co_await Sleep(1ms);
             co_await pair.client.close();
             on.note("close returns");
             co_await reading;
           });
           CHECK(stage.log == Log{"read: closed", "close returns"});
         }},
        {"TcpStream: a stream with the number of one that was closed gets its own bytes alone",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             TcpListener listener = TcpListener::bind(Address::loopback(0));
             for (int round = 0; round < 5; ++round) {
               Pair old;
               co_await pair_up(old, listener);
               Handle<> reading = submit(reads_one(stage, old.client, "old"));
               co_await Sleep(1ms);
               co_await old.client.close();
               Pair fresh;
               co_await pair_up(fresh, listener);
               co_await old.server.write(bytes_of("wrong"));
               co_await fresh.server.write_all(bytes_of("x"));
               co_await reads_one(stage, fresh.client, "fresh");
               co_await reading;
             }
           });
           stage.run();
           CHECK(stage.log.size() == 10);
           CHECK(std::count(stage.log.begin(), stage.log.end(), "old: closed") == 5);
           CHECK(std::count(stage.log.begin(), stage.log.end(), "fresh: 1") == 5);
         }},
        {"TcpStream: closed twice, and used after, is no harm",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             co_await pair.client.close();
             co_await pair.client.close();
             on.note(pair.client.is_open() ? "open" : "closed");
             co_await reads_one(on, pair.client, "read");
           });
           CHECK(stage.log == Log{"closed", "read: Bad file descriptor"});
         }},
        {"TcpStream: moved, it goes on where it was",
         [](Stage& stage) {
           with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
             co_await pair.server.write_all(bytes_of("x"));
             TcpStream moved = std::move(pair.client);
             co_await reads_one(on, moved, "moved");
             co_await reads_one(on, pair.client, "old");
           });
           CHECK(stage.log == Log{"moved: 1", "old: Bad file descriptor"});
         }},
    });

}  // namespace
