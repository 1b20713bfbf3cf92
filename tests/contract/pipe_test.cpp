#include <sys/eventfd.h>
#include <csignal>
#include <string>

#include <catch2/catch.hpp>

#include <bide/executor/io/pipe.hpp>
#include <bide/executor/io/process.hpp>
#include <bide/executor/io/readiness.hpp>
#include <bide/executor/io/signals.hpp>
#include <bide/executor/io/stream.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

template <class Source>
Task<std::string> read_to_end(Source& source) {
  std::string all;
  std::string part(1000, '\0');
  for (;;) {
    const std::size_t came = co_await source.read(room(part));
    if (came == 0) co_return all;
    all.append(part, 0, came);
  }
}

void with_pipe(Stage& stage, Task<> (*body)(Stage& stage, PipeEnds& ends)) {
  stage.submit([&stage, body]() -> Task<> {
    PipeEnds ends = pipe();
    co_await body(stage, ends);
  });
  stage.run();
}

const Behaviours pipe_behaviours(
    Under::all_faults,
    {
        {"pipe: much goes through, then the end",
         [](Stage& stage) {
           with_pipe(stage, [](Stage& on, PipeEnds& ends) -> Task<> {
             const auto writes = [](PipeWriter& to) -> Task<> {
               const std::string text(150'000, 'p');
               co_await to.write_all(bytes_of(text));
               co_await to.close();
             };
             Handle<> writing = submit({}, writes, std::ref(ends.writer));
             const std::string got = co_await read_to_end(ends.reader);
             co_await writing;
             on.note(std::to_string(got.size()));
             on.note(got.find_first_not_of('p') == std::string::npos ? "same" : "differs");
           });
           CHECK(stage.log == Log{"150000", "same"});
         }},
        {"pipe: a write when nobody reads is EPIPE, and no signal",
         [](Stage& stage) {
           with_pipe(stage, [](Stage& on, PipeEnds& ends) -> Task<> {
             co_await ends.reader.close();
             try {
               co_await ends.writer.write_all(bytes_of("x"));
             } catch (const std::system_error& error) {
               on.note(error.code() == std::errc::broken_pipe ? "broken pipe" : error.what());
             }
           });
           CHECK(stage.log == Log{"broken pipe"});
         }},
        {"pipe: reads and writes of nothing give 0",
         [](Stage& stage) {
           with_pipe(stage, [](Stage& on, PipeEnds& ends) -> Task<> {
             on.note(std::to_string(co_await ends.reader.read(std::span<std::byte>())));
             on.note(std::to_string(co_await ends.writer.write(std::span<std::byte>())));
             on.note(std::to_string(co_await ends.writer.write_all(std::span<std::byte>())));
           });
           CHECK(stage.log == Log{"0", "0", "0"});
         }},
        {"pipe: a read that times out leaves what comes to the next",
         [](Stage& stage) {
           with_pipe(stage, [](Stage& on, PipeEnds& ends) -> Task<> {
             const auto result = co_await try_timeout(2ms, read_to_end(ends.reader));
             on.note(result ? "read" : "timed out");
             co_await ends.writer.write_all(bytes_of("kept"));
             co_await ends.writer.close();
             const std::string got = co_await read_to_end(ends.reader);
             on.note(got);
           });
           CHECK(stage.log == Log{"timed out", "kept"});
         }},
        {"pipe: a close ends the read that waits",
         [](Stage& stage) {
           with_pipe(stage, [](Stage& on, PipeEnds& ends) -> Task<> {
             const auto reads = [](Stage& to, PipeReader& from) -> Task<> {
               std::string memory(10, '.');
               try {
                 co_await from.read(room(memory));
               } catch (const std::system_error& error) {
                 to.note(error.code() == std::errc::operation_canceled ? "closed" : error.what());
               }
             };
             Handle<> reading = submit({}, reads, std::ref(on), std::ref(ends.reader));
             co_await Sleep(1ms);
             co_await ends.reader.close();
             co_await reading;
           });
           CHECK(stage.log == Log{"closed"});
         }},
        {"pipe: read_exactly over the end is an error",
         [](Stage& stage) {
           with_pipe(stage, [](Stage&, PipeEnds& ends) -> Task<> {
             co_await ends.writer.write_all(bytes_of("ab"));
             co_await ends.writer.close();
             std::string memory(5, '.');
             co_await ends.reader.read_exactly(room(memory));
           });
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("of which 2 came"));
         }},
    });

const Behaviours readiness_behaviours(
    Under::all_faults, {
                           {"readable: waits for another library's descriptor",
                            [](Stage& stage) {
                              const Ends ends = Ends::sockets();
                              stage.submit([&]() -> Task<> {
                                const std::uint32_t events = co_await readable(ends[0]);
                                stage.note((events & POLLIN) != 0 ? "readable" : "something else");
                              });
                              stage.submit([&]() -> Task<> {
                                co_await Sleep(1ms);
                                stage.note("send");
                                ::send(ends[1], "x", 1, 0);
                              });
                              stage.run();
                              CHECK(stage.log == Log{"send", "readable"});
                            }},
                           {"writable: is told once there is room",
                            [](Stage& stage) {
                              const Ends ends = Ends::pipe();
                              const std::string fill(65536, 'f');
                              CHECK(::write(ends[1], fill.data(), fill.size()) == 65536);
                              stage.submit([&]() -> Task<> {
                                const std::uint32_t events = co_await writable(ends[1]);
                                stage.note((events & POLLOUT) != 0 ? "writable" : "something else");
                              });
                              stage.submit([&]() -> Task<> {
                                co_await Sleep(1ms);
                                stage.note("drain");
                                std::string drained(65536, '.');
                                static_cast<void>(::read(ends[0], drained.data(), drained.size()));
                              });
                              stage.run();
                              CHECK(stage.log == Log{"drain", "writable"});
                            }},
                           {"readable: under a timeout that passes",
                            [](Stage& stage) {
                              const Ends ends = Ends::sockets();
                              stage.submit([&]() -> Task<> {
                                const auto waits = [&]() -> Task<> { co_await readable(ends[0]); };
                                const auto result = co_await try_timeout(2ms, waits());
                                stage.note(result ? "readable" : "timed out");
                              });
                              stage.run();
                              CHECK(stage.log == Log{"timed out"});
                            }},
                           {"readable: of a descriptor that is not open is an error",
                            [](Stage& stage) {
                              stage.submit([]() -> Task<> { co_await readable(1'000'000); });
                              stage.run();
                              REQUIRE(stage.log.size() == 1);
                              CHECK_THAT(stage.log[0], Catch::Contains("Bad file descriptor"));
                            }},
                       });

const Behaviours process_behaviours(
    Under::all_faults,
    {
        {"ChildProcess: its output is read, and its end told",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             const std::vector<std::string> arguments{"-c", "cat; exit 3"};
             ChildProcess child = ChildProcess::spawn(
                 "sh", arguments,
                 {.input = ChildOptions::Stream::pipe, .output = ChildOptions::Stream::pipe});
             co_await child.input().write_all(bytes_of("through the child"));
             co_await child.input().close();
             const std::string got = co_await read_to_end(child.output());
             stage.note(got);
             const ExitStatus status = co_await child.wait();
             stage.note(status.to_string());
           });
           stage.run();
           CHECK(stage.log == Log{"through the child", "exited with 3"});
         }},
        {"ChildProcess: killed, it says by what",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             const std::vector<std::string> arguments{"1000"};
             ChildProcess child = ChildProcess::spawn("sleep", arguments);
             child.kill(SIGTERM);
             const ExitStatus status = co_await child.wait();
             stage.note(status.to_string());
           });
           stage.run();
           CHECK(stage.log == Log{"killed by signal 15"});
         }},
        {"ChildProcess: a write to the input of one that has ended is EPIPE, and no signal",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             const std::vector<std::string> arguments;
             ChildProcess child =
                 ChildProcess::spawn("true", arguments, {.input = ChildOptions::Stream::pipe});
             const ExitStatus status = co_await child.wait();
             stage.note(status.to_string());
             try {
               co_await child.input().write_all(bytes_of("x"));
             } catch (const std::system_error& error) {
               stage.note(error.code() == std::errc::broken_pipe ? "broken pipe" : error.what());
             }
           });
           stage.run();
           CHECK(stage.log == Log{"exited with 0", "broken pipe"});
         }},
        {"ChildProcess: a wait that times out leaves the child, and can be done again",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             const std::vector<std::string> arguments{"1000"};
             ChildProcess child = ChildProcess::spawn("sleep", arguments);
             const auto waits = [](ChildProcess& for_one) -> Task<> { co_await for_one.wait(); };
             const auto result = co_await try_timeout(2ms, waits(child));
             stage.note(result ? "ended" : "timed out");
             child.kill(SIGKILL);
             const ExitStatus status = co_await child.wait();
             stage.note(status.to_string());
           });
           stage.run();
           CHECK(stage.log == Log{"timed out", "killed by signal 9"});
         }},
        {"SignalSet: tells a signal that comes",
         [](Stage& stage) {
           SignalSet signals({SIGUSR1});
           stage.submit([&]() -> Task<> {
             const int number = co_await signals.next();
             stage.note(number == SIGUSR1 ? "SIGUSR1" : std::to_string(number));
           });
           stage.submit([]() -> Task<> {
             co_await Sleep(1ms);
             ::raise(SIGUSR1);
           });
           stage.run();
           CHECK(stage.log == Log{"SIGUSR1"});
         }},
        {"SignalSet: a wait that times out loses no signal",
         [](Stage& stage) {
           SignalSet signals({SIGUSR1});
           stage.submit([&]() -> Task<> {
             const auto waits = [&]() -> Task<> { co_await signals.next(); };
             const auto result = co_await try_timeout(2ms, waits());
             stage.note(result ? "came" : "timed out");
             ::raise(SIGUSR1);
             co_await signals.next();
             stage.note("came");
           });
           stage.run();
           CHECK(stage.log == Log{"timed out", "came"});
         }},
    });

}  // namespace
