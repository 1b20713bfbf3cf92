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

const Behaviours receive_behaviours(
    Under::all_faults, {
                           {"TcpStream: receive gives all bytes in order, then the end",
                            [](Stage& stage) {
                              with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
                                const std::string text = counting(50'000);
                                Handle<> writing = submit(writes(pair.server, text));
                                const std::string got = co_await receive_to_end(pair.client);
                                co_await writing;
                                on.note(got == text ? "same" : "differs");
                              });
                              CHECK(stage.log == Log{"same"});
                            }},
                           {"TcpStream: read after receive gets what is queued first",
                            [](Stage& stage) {
                              with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
                                const std::string text = counting(5000);
                                co_await pair.server.write_all(bytes_of(text));
                                pair.server.shutdown_write();
                                std::string got;
                                {
                                  const Received first = co_await pair.client.receive();
                                  got = text_of(first.data());
                                }
                                got += co_await read_to_end(pair.client, 77);
                                on.note(got == text ? "same" : "differs");
                              });
                              CHECK(stage.log == Log{"same"});
                            }},
                           {"TcpStream: many streams share two buffers, and every byte arrives",
                            [](Stage& stage) {
                              stage.submit([&]() -> Task<> {
                                TcpListener listener = TcpListener::bind(Address::loopback(0));
                                std::vector<Pair> pairs(20);
                                for (Pair& pair : pairs) co_await pair_up(pair, listener);
                                const std::string text = counting(20'000);
                                std::vector<Handle<>> writing;
                                std::vector<Handle<std::string>> reading;
                                for (Pair& pair : pairs) {
                                  reading.push_back(submit(receive_to_end(pair.client)));
                                  writing.push_back(submit(writes(pair.server, text)));
                                }
                                int same = 0;
                                for (Handle<std::string>& handle : reading) {
                                  const std::string got = co_await handle;
                                  same += got == text ? 1 : 0;
                                }
                                for (Handle<>& handle : writing) co_await handle;
                                stage.note(std::to_string(same));
                              });
                              stage.run();
                              CHECK(stage.log == Log{"20"});
                            },
                            {.buffer_count = 2, .buffer_bytes = 1024}},
                           {"TcpStream: one that nobody reads leaves the buffers to the others",
                            [](Stage& stage) {
                              stage.submit([&]() -> Task<> {
                                TcpListener listener = TcpListener::bind(Address::loopback(0));
                                Pair unread;
                                Pair busy;
                                co_await pair_up(unread, listener);
                                co_await pair_up(busy, listener);
                                co_await unread.server.write_all(bytes_of("a"));
                                const Received first = co_await unread.client.receive();
                                std::string got(text_of(first.data()));
                                const std::string text = counting(20'000);
                                Handle<> writing = submit(writes(unread.server, text));
                                for (int round = 0; round < 5; ++round) {
                                  co_await Sleep(1ms);
                                  co_await busy.server.write_all(bytes_of("b"));
                                  const Received other = co_await busy.client.receive();
                                  stage.note(std::string(text_of(other.data())));
                                }
                                got += co_await receive_to_end(unread.client);
                                co_await writing;
                                stage.note(got == "a" + text ? "same" : "differs");
                              });
                              stage.run();
                              CHECK(stage.log == Log{"b", "b", "b", "b", "b", "same"});
                            },
                            {.buffer_count = 4, .buffer_bytes = 1024}},
                           {"TcpStream: a receive that is cancelled keeps what comes for the next",
                            [](Stage& stage) {
                              with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
                                const auto result = co_await try_timeout(2ms, receive_to_end(pair.client));
                                on.note(result ? "received" : "timed out");
                                co_await writes(pair.server, "kept");
                                const std::string got = co_await receive_to_end(pair.client);
                                on.note(got);
                              });
                              CHECK(stage.log == Log{"timed out", "kept"});
                            }},
                           {"TcpStream: destroyed while it receives, it gives back buffers and descriptor",
                            [](Stage& stage) {
                              const int before = descriptor_count();
                              stage.submit([&]() -> Task<> {
                                TcpListener listener = TcpListener::bind(Address::loopback(0));
                                for (int round = 0; round < 10; ++round) {
                                  Pair pair;
                                  co_await pair_up(pair, listener);
                                  co_await pair.server.write_all(bytes_of("abc"));
                                  const Received received = co_await pair.client.receive();
                                  co_await pair.server.write_all(bytes_of("more"));
                                  co_await Yield();
                                }
                                co_await listener.close();
                              });
                              stage.run();
                              CHECK(stage.log.empty());
                              CHECK(descriptor_count() <= before + 2);
                            },
                            {.buffer_count = 2}},
                           {"TcpStream: a reset while it receives is told once, after the bytes",
                            [](Stage& stage) {
                              with_pair(stage, [](Stage& on, Pair& pair) -> Task<> {
                                Handle<std::string> reading = submit(receive_to_end(pair.client));
                                co_await Sleep(1ms);
                                pair.server.set_linger(0s);
                                co_await pair.server.close();
                                try {
                                  const std::string got = co_await reading;
                                  on.note("ended");
                                } catch (const std::system_error& error) {
                                  on.note(error.code().message());
                                }
                              });
                              CHECK(stage.log == Log{"Connection reset by peer"});
                            }},
                       });

}  // namespace
