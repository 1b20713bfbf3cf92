#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/file_stream.hpp>
#include <bide/executor/io/pipe.hpp>
#include <bide/executor/io/stream.hpp>
#include <bide/executor/io/tcp.hpp>
#include <bide/executor/io/unix.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "io_run.hpp"

// What sockets make of results that a kernel gives rarely: the driver is played by the test.

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

static_assert(Stream<TcpStream> && Stream<UnixStream> && Stream<FileStream>);
static_assert(ByteSource<PipeReader> && !ByteSink<PipeReader>);
static_assert(ByteSink<PipeWriter> && !ByteSource<PipeWriter>);
static_assert(!ByteSource<int>);

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

/// Gives an operation the next result of its kind that the test has written down; with none left it stays in flight.
class PlayedDriver final : public Driver {
 public:
  struct Result {
    Operation::Kind kind;
    std::int64_t result;
    enum class Then : std::uint8_t { ended, more } then = Then::ended;
  };
  static constexpr auto more = Result::Then::more;

  explicit PlayedDriver(std::vector<std::string>& log) : log_(log) {}
  ~PlayedDriver() override {
    while (!in_flight_.empty()) complete(*in_flight_.back(), -ECANCELED, Result::Then::ended);
  }

  std::vector<Result> results;
  std::int64_t cancelled_with = -ECANCELED;  // what a cancel's operation ends with
  enum class Cancels : std::uint8_t { at_once, after_a_wait } cancels = Cancels::at_once;

  void start(Operation& operation) noexcept override {
    log_.push_back(name_of(operation.kind));
    in_flight_.push_back(&operation);
  }
  void cancel(Operation& operation) noexcept override {
    log_.push_back("cancel " + name_of(operation.kind));
    cancelled_.push_back(&operation);
    if (cancels == Cancels::at_once) end_cancelled();
  }
  void collect() noexcept override {
    if (waited_) end_cancelled();
    waited_ = false;
    if (results.empty()) return;
    for (Operation* operation : in_flight_) {
      if (operation->kind != results.front().kind) continue;
      const Result next = results.front();
      results.erase(results.begin());
      return complete(*operation, next.result, next.then);
    }
  }
  void wait(Duration) noexcept override { waited_ = true; }
  void closing(int) noexcept override { ++closed; }
  std::span<std::byte> buffer(std::uint16_t) noexcept override { return buffer_; }
  void give_back(std::uint16_t) noexcept override { ++given_back; }
  bool buffers_scarce() const noexcept override { return false; }
  std::string_view name() const override { return "played"; }
  DriverStatistics statistics() const override { return {}; }

  int given_back = 0;
  int closed = 0;  // descriptors, by plain calls

 private:
  static std::string name_of(Operation::Kind kind) {
    switch (kind) {
      case Operation::Kind::accept:
        return "accept";
      case Operation::Kind::receive:
        return "receive";
      case Operation::Kind::send:
        return "send";
      case Operation::Kind::poll:
        return "poll";
      case Operation::Kind::close:
        return "close";
      default:
        return "other";
    }
  }
  void complete(Operation& operation, std::int64_t result, Result::Then then) noexcept {
    operation.result = result;
    operation.more = then == Result::Then::more;
    if (!operation.more) std::erase(in_flight_, &operation);
    operation.completed();
  }

  void end_cancelled() noexcept {
    for (Operation* operation : std::exchange(cancelled_, {})) {
      complete(*operation, cancelled_with, Result::Then::ended);
    }
  }

  std::vector<std::string>& log_;
  std::vector<Operation*> in_flight_;
  std::vector<Operation*> cancelled_;
  bool waited_ = false;
  std::array<std::byte, 16> buffer_{};
};

/// An executor in virtual time with a played driver.
struct Play {
  std::vector<std::string> log;
  Executor executor{{.time = TimeMode::virtual_time}};
  PlayedDriver* driver = nullptr;
  std::string outcome = "not ended";

  explicit Play(std::vector<PlayedDriver::Result> results) {
    auto made = std::make_unique<PlayedDriver>(log);
    driver = made.get();
    driver->results = std::move(results);
    executor.install(std::move(made));
  }
  template <class F>
  void run(F scenario) {
    executor.submit(
        {},
        [](Play* play, F body) -> Task<> {
          try {
            play->outcome = co_await body(*play);
          } catch (const std::system_error& error) {
            play->outcome = error.what();
          }
        },
        this, scenario);
    executor.run();
  }
};

using Kind = Operation::Kind;

Descriptor socket_here() { return Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

Task<std::string> reads(Play&) {
  TcpStream stream(socket_here());
  std::string text(10, '\0');
  const std::size_t came = co_await stream.read(room(text));
  co_return std::to_string(came);
}

// How a thread ends that waits, and is cancelled.
template <class F, class On>
Task<std::string> end_of_cancelled(F function, On* on) {
  Handle<> waiting = submit({}, function, on);
  co_await Yield();
  waiting.cancel();
  try {
    co_await waiting;
  } catch (const Cancelled&) {
    co_return "cancelled";
  }
  co_return "went on";
}

TEST_CASE("StreamSocket: an interrupted read is started again, one that is not ready polls first") {
  Play play({{Kind::receive, -EINTR},
             {Kind::receive, -EAGAIN},
             {Kind::poll, -EINTR},
             {Kind::poll, 1},
             {Kind::receive, 7}});
  play.run(reads);
  CHECK(play.outcome == "7");
  CHECK(play.driver->closed == 1);
  CHECK(play.log == std::vector<std::string>{"receive", "receive", "poll", "poll", "receive"});
}

TEST_CASE("StreamSocket: a poll that fails is the read's failure") {
  Play play({{Kind::receive, -EAGAIN}, {Kind::poll, -EBADF}});
  play.run(reads);
  CHECK(play.outcome == "read from nowhere: Bad file descriptor");
}

TEST_CASE("StreamSocket: write_all goes on after short writes, and tells how far it came") {
  const auto writes = [](Play&) -> Task<std::string> {
    TcpStream stream(socket_here());
    const std::string text(10, 'x');
    const std::size_t written = co_await stream.write_all(bytes_of(text));
    co_return std::to_string(written);
  };
  Play whole({{Kind::send, 1}, {Kind::send, -EINTR}, {Kind::send, 4}, {Kind::send, 5}});
  whole.run(writes);
  CHECK(whole.outcome == "10");
  Play broken({{Kind::send, 1}, {Kind::send, 2}, {Kind::send, -EPIPE}});
  broken.run(writes);
  CHECK(broken.outcome == "write to nowhere (3 of 10 bytes are written): Broken pipe");
  Play stuck({{Kind::send, 1}, {Kind::send, 0}});
  stuck.run(writes);
  CHECK(stuck.outcome == "write to nowhere (1 of 10 bytes are written): Input/output error");
}

TEST_CASE("Receiving: stops with eight buffers unread, loses none, and begins again when somebody waits") {
  std::vector<PlayedDriver::Result> results;
  for (std::int64_t size = 1; size <= 8; ++size) results.push_back({Kind::receive, size, PlayedDriver::more});
  results.push_back({Kind::receive, 9, PlayedDriver::more});
  results.push_back({Kind::receive, 0});
  Play play(results);
  play.run([](Play&) -> Task<std::string> {
    TcpStream stream(socket_here());
    std::string sizes;
    for (int turn = 0;; ++turn) {
      const Received part = co_await stream.receive();
      sizes += std::to_string(part.size()) + " ";
      if (part.empty()) co_return sizes;
      if (turn == 0) {
        for (int yields = 0; yields < 1000; ++yields) co_await Sleep(1ms);
      }
    }
  });
  CHECK(play.outcome == "1 2 3 4 5 6 7 8 9 0 ");
  CHECK(play.log == std::vector<std::string>{"receive", "cancel receive", "receive"});
  CHECK(play.driver->given_back == 9);
}

TEST_CASE("Receiving: an error comes after what had come before it, and once") {
  Play play({{Kind::receive, 3, PlayedDriver::more}, {Kind::receive, -ECONNRESET}, {Kind::receive, 0}});
  play.run([](Play&) -> Task<std::string> {
    TcpStream stream(socket_here());
    std::string text(2, '\0');
    const Received first = co_await stream.receive();
    std::string log = std::to_string(first.size());
    try {
      co_await stream.read(room(text));
    } catch (const std::system_error& error) {
      log += " " + error.code().message();
    }
    const Received end = co_await stream.receive();
    co_return log + (end.empty() ? " end" : " more");
  });
  CHECK(play.outcome == "3 Connection reset by peer end");
}

TEST_CASE("Accepting: connections that were gone are passed over, also many in a row") {
  std::vector<PlayedDriver::Result> results(1000, {Kind::accept, -ECONNABORTED});
  const int connection = socket_here().release();
  results.push_back({Kind::accept, -EINTR});
  results.push_back({Kind::accept, connection});
  Play play(results);
  play.run([](Play&) -> Task<std::string> {
    TcpListener listener = TcpListener::bind(Address::loopback(0));
    TcpStream stream = co_await listener.accept();
    co_return std::to_string(listener.statistics().aborted) + " " + std::to_string(stream.number());
  });
  CHECK(play.outcome == "1001 " + std::to_string(connection));
}

TEST_CASE("Accepting: with 64 connections unaccepted it stops, and begins again when a thread waits") {
  std::vector<PlayedDriver::Result> results;
  const int before = descriptor_count();
  for (int number = 0; number < 70; ++number) {
    results.push_back({Kind::accept, socket_here().release(), PlayedDriver::more});
  }
  {
    Play play(results);
    play.run([](Play& of) -> Task<std::string> {
      TcpListener listener = TcpListener::bind(Address::loopback(0));
      TcpStream first = co_await listener.accept();
      for (int turn = 0; turn < 1000; ++turn) co_await Sleep(1ms);
      const std::string left = std::to_string(of.driver->results.size());
      for (int number = 0; number < 65; ++number) co_await listener.accept();
      co_return left + " " + std::to_string(listener.statistics().accepted);
    });
    CHECK(play.outcome == "5 66");
    CHECK(play.log == std::vector<std::string>{"accept", "cancel accept", "accept", "cancel accept"});
    for (const PlayedDriver::Result& result : play.driver->results) ::close(static_cast<int>(result.result));
  }
  CHECK(descriptor_count() == before);
}

TEST_CASE("Accepting: a listener that can't accept at all says so to all that wait") {
  Play play({{Kind::accept, -EINVAL}});
  play.run([](Play&) -> Task<std::string> {
    TcpListener listener = TcpListener::bind(Address::loopback(0));
    Handle<Failure> other =
        submit(failure_of([](TcpListener* from) -> Task<> { co_await from->accept(); }, &listener));
    const Failure mine =
        co_await failure_of([](TcpListener* from) -> Task<> { co_await from->accept(); }, &listener);
    const Failure others = co_await other;
    co_return mine.code.message() + ", " + others.code.message();
  });
  CHECK(play.outcome == "Invalid argument, Invalid argument");
}

TEST_CASE("Accepting: out of memory it pauses 100 ms at a time, tells once an episode, and recovers") {
  static int told = 0;
  told = 0;
  const int first = socket_here().release();
  const int second = socket_here().release();
  Play play({{Kind::accept, -ENOMEM},
             {Kind::accept, -ENFILE},
             {Kind::accept, first},
             {Kind::accept, -EMFILE},
             {Kind::accept, second}});
  play.run([](Play&) -> Task<std::string> {
    TcpListener listener = TcpListener::bind(Address::loopback(0),
                                             {.exhausted = [](std::error_code, const Address&) { ++told; }});
    TcpStream one = co_await listener.accept();
    std::string log = std::to_string((now() - Instant()) / 1ms);
    const auto cancelled = co_await try_timeout(50ms, listener.accept());
    log += cancelled.has_value() ? " early" : " cancelled";
    co_await Sleep(10s);
    TcpStream other = co_await listener.accept();
    log += " " + std::to_string((now() - Instant()) / 1ms);
    co_return log;
  });
  CHECK(play.outcome == "200 cancelled 10250");
  CHECK(told == 2);
}

// FAULTS K3
TEST_CASE("Accepting: what is accepted in the instant in which a listener goes is closed") {
  const int before = descriptor_count();
  Play play({});
  play.driver->cancelled_with = socket_here().release();
  play.driver->cancels = PlayedDriver::Cancels::after_a_wait;
  play.run([](Play&) -> Task<std::string> {
    TcpListener listener = TcpListener::bind(Address::loopback(0));
    std::string end =
        co_await end_of_cancelled([](TcpListener* from) -> Task<> { co_await from->accept(); }, &listener);
    co_return end;
  });
  CHECK(play.outcome == "cancelled");
  CHECK(play.log == std::vector<std::string>{"accept", "cancel accept"});
  CHECK(descriptor_count() == before);
}

TEST_CASE("Receiving: what comes in the instant in which a stream goes is given back") {
  Play play({});
  play.driver->cancelled_with = 5;
  play.run([](Play&) -> Task<std::string> {
    TcpStream stream(socket_here());
    std::string end = co_await end_of_cancelled(
        [](TcpStream* from) -> Task<> { const Received part = co_await from->receive(); }, &stream);
    co_return end;
  });
  CHECK(play.outcome == "cancelled");
  CHECK(play.driver->given_back == 1);
}

// FAULTS K3
TEST_CASE("File: one that is opened while its executor ends is closed") {
  const int before = descriptor_count();
  {
    Play play({});
    play.driver->cancelled_with = socket_here().release();
    play.executor.submit({}, []() -> Task<> { co_await File::open("a", OpenMode::read); });
    play.executor.run_one();
  }
  CHECK(descriptor_count() == before);
}

TEST_CASE("Accepting: a close in a pause ends those that wait") {
  Play play({{Kind::accept, -EMFILE}, {Kind::close, 0}});
  play.run([](Play&) -> Task<std::string> {
    TcpListener listener = TcpListener::bind(Address::loopback(0), {.exhausted = nullptr});
    Handle<Failure> waiting =
        submit(failure_of([](TcpListener* from) -> Task<> { co_await from->accept(); }, &listener));
    co_await Sleep(50ms);
    const int number = listener.number();
    co_await listener.close();
    const Failure failure = co_await waiting;
    ::close(number);
    co_return failure.code.message();
  });
  CHECK(play.outcome == "Operation canceled");
  CHECK(play.log == std::vector<std::string>{"accept", "close"});
}

}  // namespace
