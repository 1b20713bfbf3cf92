#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/pipe.hpp>
#include <bide/executor/io/readiness.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "io_run.hpp"

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

TEST_CASE("Pipe: more than it holds goes through, in order, to the end") {
  const std::string sent = bytes_that_count(500'000);
  const std::string came = run_io([](const std::string& text) -> Task<std::string> {
    PipeEnds ends = bide::pipe();
    Handle<std::string> reading = submit(read_to_end(ends.reader));
    co_await ends.writer.write_all(bytes_of(text));
    co_await ends.writer.close();
    std::string all = co_await reading;
    co_await ends.reader.close();
    co_return all;
  }(sent));
  CHECK(came == sent);
}

// FAULTS K6
TEST_CASE("Pipe: a write that nobody will read is an error, and no signal") {
  const Failure failure = run_io(failure_of([]() -> Task<> {
    PipeEnds ends = bide::pipe();
    co_await ends.reader.close();
    co_await ends.writer.write_all(bytes_of("abc"));
  }));
  CHECK(failure.code == std::errc::broken_pipe);
  CHECK(failure.text == "write to a pipe (0 of 3 bytes are written): Broken pipe");
}

TEST_CASE("Pipe: a read waits for the first byte, and a cancel ends it") {
  const bool timed_out = run_io([]() -> Task<bool> {
    PipeEnds ends = bide::pipe();
    std::string text(4, '\0');
    const auto read = co_await try_timeout(1ms, ends.reader.read(room(text)));
    co_await ends.writer.write_all(bytes_of("late"));
    co_await ends.reader.read_exactly(room(text));
    co_return !read.has_value() && text == "late";
  }());
  CHECK(timed_out);
}

TEST_CASE("Pipe: an end that others have made non-blocking is waited for") {
  const std::string came = run_io([]() -> Task<std::string> {
    PipeEnds ends = bide::pipe();
    ::fcntl(ends.reader.number(), F_SETFL, O_NONBLOCK);
    ::fcntl(ends.writer.number(), F_SETFL, O_NONBLOCK);
    Handle<std::string> reading = submit(read_to_end(ends.reader));
    co_await Sleep(2ms);
    const std::string text(200'000, 'n');
    co_await ends.writer.write_all(bytes_of(text));
    co_await ends.writer.close();
    std::string all = co_await reading;
    co_return all;
  }());
  CHECK(came == std::string(200'000, 'n'));
}

TEST_CASE("Standard streams: are neither closed nor changed") {
  const int flags = ::fcntl(STDERR_FILENO, F_GETFL);
  run_io([]() -> Task<> {
    PipeWriter errors = standard_error();
    co_await errors.write_all(std::span<const std::byte>());
    co_await errors.close();
    PipeReader input = standard_input();
    PipeWriter output = standard_output();
  }());
  CHECK(::fcntl(STDIN_FILENO, F_GETFD) >= 0);
  CHECK(::fcntl(STDOUT_FILENO, F_GETFD) >= 0);
  CHECK(::fcntl(STDERR_FILENO, F_GETFL) == flags);
}

TEST_CASE("Readiness: of a foreign descriptor, and of one that hangs up") {
  std::vector<std::uint32_t> events;
  run_io([](std::vector<std::uint32_t>& got) -> Task<> {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) co_return;
    const auto none = co_await try_timeout(1ms, readable(ends[0]));
    got.push_back(none.has_value() ? 1 : 0);
    got.push_back(co_await writable(ends[0]));
    if (::write(ends[1], "x", 1) != 1) co_return;
    got.push_back(co_await readable(ends[0]));
    ::close(ends[1]);
    const std::uint32_t hung_up = co_await readable(ends[0]);
    got.push_back(hung_up & POLLHUP);
    ::close(ends[0]);
  }(events));
  CHECK(events == std::vector<std::uint32_t>{0, POLLOUT, POLLIN, POLLHUP});
}

TEST_CASE("Pipe: standard input that is closed is not taken for a descriptor of the driver's") {
  const int kept = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  REQUIRE(kept >= 0);
  for (const auto choice : {DriverOptions::Choice::automatic, DriverOptions::Choice::epoll}) {
    ::close(STDIN_FILENO);
    ExecutorOptions options;
    options.io.choice = choice;
    const Failure failure = run_io(failure_of([]() -> Task<> {
                                     PipeReader input = standard_input();
                                     std::string memory(10, '\0');
                                     co_await try_timeout(100ms, input.read(room(memory)));
                                   }),
                                   options);
    ::dup2(kept, STDIN_FILENO);
    CHECK(failure.text == "read from standard input: Bad file descriptor");
  }
  ::close(kept);
}

}  // namespace
