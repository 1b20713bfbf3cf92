#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <sys/eventfd.h>

#include "uring_request.hpp"

// Receives into shared buffers, more of them than there are buffers.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

Task<> takes_all(int from, std::string& text, std::size_t limit) {
  while (text.size() < limit) {
    const std::string part = co_await Shared(from);
    if (part.empty()) break;
    text += part;
  }
}

Task<> sends_bursts(int to, char letter) {
  for (int burst = 0; burst < 8; ++burst) {
    std::string text(8192, letter);
    for (std::size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>('0' + burst);
    while (!text.empty()) {
      const std::int64_t sent =
          co_await Request(Kind::send, {.descriptor = to, .memory = text.data(), .length = text.size()});
      if (sent <= 0) co_return;
      text.erase(0, static_cast<std::size_t>(sent));
    }
    co_await Sleep(100us);
  }
  ::shutdown(to, SHUT_WR);
}

std::string bursts(char letter) {
  std::string all;
  for (int burst = 0; burst < 8; ++burst) {
    std::string text(8192, letter);
    for (std::size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>('0' + burst);
    all += text;
  }
  return all;
}

/// A stream's receive that repeats: copies out what comes, gives the buffer back, and arms again when it ended.
class Stream final : public Operation {
 public:
  Stream(Driver& driver, int from) : Operation(Kind::receive), driver_(driver) {
    descriptor = from;
    repeats = takes_buffer = true;
  }
  void completed() noexcept override {
    if (result > 0) {
      const auto* const bytes = reinterpret_cast<const char*>(driver_.buffer(buffer).data());
      text.append(bytes, static_cast<std::size_t>(result));
      held.push_back(buffer);
    }
    if (more) return;
    if (result > 0) return driver_.start(*this);
    last = result;
    ended = true;
  }
  void give_back() {
    for (const std::uint16_t number : std::exchange(held, {})) driver_.give_back(number);
  }
  std::string text{};
  std::vector<std::uint16_t> held{};
  bool ended = false;
  std::int64_t last = 1;

 private:
  Driver& driver_;
};

Task<> gives_back_late(std::vector<std::unique_ptr<Stream>>& streams) {
  for (;;) {
    co_await Sleep(50us);
    bool all_ended = true;
    for (const auto& stream : streams) {
      stream->give_back();
      all_ended = all_ended && stream->ended;
    }
    if (all_ended) break;
  }
}

TEST_CASE("UringDriver: two shared buffers serve a hundred connections, every byte in order") {
  for (const auto ring : {DriverOptions::Use::if_there, DriverOptions::Use::never}) {
    UringExecutor uring({.buffer_count = 2, .buffer_ring = ring});
    std::vector<std::unique_ptr<Ends>> ends;
    std::vector<std::string> texts(100);
    for (std::size_t i = 0; i < 100; ++i) {
      ends.push_back(std::make_unique<Ends>(tcp_ends()));
      uring.executor.submit(takes_all(ends[i]->first, texts[i], std::size_t{1} << 20U));
      uring.executor.submit(sends_bursts(ends[i]->second, static_cast<char>('A' + i % 26)));
    }
    uring.executor.run();
    for (std::size_t i = 0; i < 100; ++i) CHECK(texts[i] == bursts(static_cast<char>('A' + i % 26)));
    CHECK(uring.driver().in_flight() == 0);
  }
}

TEST_CASE("UringDriver: repeating receives that run out of buffers go on when some are given back") {
  for (const auto ring : {DriverOptions::Use::if_there, DriverOptions::Use::never}) {
    UringExecutor uring({.buffer_count = 2, .buffer_ring = ring});
    std::vector<std::unique_ptr<Ends>> ends;
    std::vector<std::unique_ptr<Stream>> streams;
    for (std::size_t i = 0; i < 100; ++i) {
      ends.push_back(std::make_unique<Ends>(tcp_ends()));
      streams.push_back(std::make_unique<Stream>(uring.driver(), ends[i]->first));
      uring.driver().start(*streams[i]);
      uring.executor.submit(sends_bursts(ends[i]->second, static_cast<char>('A' + i % 26)));
    }
    uring.executor.submit(gives_back_late(streams));
    uring.executor.run();
    for (std::size_t i = 0; i < 100; ++i) {
      CHECK(streams[i]->text == bursts(static_cast<char>('A' + i % 26)));
      CHECK(streams[i]->last == 0);
    }
    CHECK(uring.statistics().out_of_buffers > 0);
    CHECK(uring.driver().in_flight() == 0);
  }
}

Task<> sleeps(Duration time) { co_await Sleep(time); }

TEST_CASE("UringDriver: receives without a buffer wait without turning in circles") {
  UringExecutor uring({.buffer_count = 2});
  std::vector<std::unique_ptr<Ends>> ends;
  std::vector<std::unique_ptr<Stream>> streams;
  for (std::size_t i = 0; i < 20; ++i) {
    ends.push_back(std::make_unique<Ends>(tcp_ends()));
    streams.push_back(std::make_unique<Stream>(uring.driver(), ends[i]->first));
    uring.driver().start(*streams[i]);
    CHECK(::send(ends[i]->second, "abc", 3, 0) == 3);
  }
  uring.executor.submit(sleeps(20ms));
  uring.executor.run();
  const std::uint64_t enters = uring.statistics().enters;
  uring.executor.submit(sleeps(50ms));
  uring.executor.run();
  CHECK(uring.statistics().enters - enters < 5);
  for (const auto& end : ends) ::shutdown(end->second, SHUT_WR);
  uring.executor.submit(gives_back_late(streams));
  uring.executor.run();
  for (const auto& stream : streams) CHECK(stream->text == "abc");
}

TEST_CASE("UringDriver: one buffer that is given back serves a starved receive, while another is held") {
  UringExecutor uring({.buffer_count = 2});
  std::vector<std::unique_ptr<Ends>> ends;
  std::vector<std::unique_ptr<Stream>> streams;
  for (std::size_t i = 0; i < 3; ++i) {
    ends.push_back(std::make_unique<Ends>(tcp_ends()));
    streams.push_back(std::make_unique<Stream>(uring.driver(), ends[i]->first));
    CHECK(::send(ends[i]->second, "abc", 3, 0) == 3);
    uring.driver().start(*streams[i]);
    uring.executor.submit(sleeps(2ms));
    uring.executor.run();
  }
  CHECK(streams[0]->held.size() == 1);
  CHECK(streams[2]->text.empty());
  streams[1]->give_back();
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
  CHECK(streams[2]->text == "abc");
  for (const auto& stream : streams) stream->give_back();
  for (const auto& stream : streams) uring.driver().cancel(*stream);
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
  CHECK(uring.driver().in_flight() == 0);
}

TEST_CASE("UringDriver: an idle receive in front does not keep a free buffer from one that has data") {
  UringExecutor uring({.buffer_count = 1});
  const Ends busy(tcp_ends());
  const Ends idle(tcp_ends());
  const Ends late(tcp_ends());
  std::vector<std::unique_ptr<Stream>> streams;
  for (const Ends* const from : {&busy, &idle, &late})
    streams.push_back(std::make_unique<Stream>(uring.driver(), from->first));
  uring.driver().start(*streams[0]);
  CHECK(::send(busy.second, "a", 1, 0) == 1);
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
  uring.driver().start(*streams[1]);  // finds no buffer, and has no data
  uring.driver().start(*streams[2]);
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
  CHECK(::send(late.second, "b", 1, 0) == 1);
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
  streams[0]->give_back();
  uring.executor.submit(sleeps(5ms));
  uring.executor.run();
  CHECK(streams[2]->text == "b");
  for (const auto& stream : streams) stream->give_back();
  for (const auto& stream : streams) uring.driver().cancel(*stream);
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
  CHECK(streams[1]->last == -ECANCELED);
}

/// Two streams that hold both buffers, and two that have data and wait for one, the third before the fourth.
struct Starved {
  Starved() {
    for (std::size_t i = 0; i < 4; ++i) {
      ends.push_back(std::make_unique<Ends>(tcp_ends()));
      streams.push_back(std::make_unique<Stream>(uring.driver(), ends[i]->first));
      if (::send(ends[i]->second, "abc", 3, 0) != 3) std::abort();
      uring.driver().start(*streams[i]);
      settle();
    }
  }
  void settle() {
    uring.executor.submit(sleeps(2ms));
    uring.executor.run();
  }
  void end_all() {
    for (const auto& stream : streams) {
      stream->give_back();
      if (!stream->ended) uring.driver().cancel(*stream);
    }
    while (uring.driver().in_flight() > 0) settle();
  }

  UringExecutor uring{DriverOptions{.buffer_count = 2}};
  std::vector<std::unique_ptr<Ends>> ends{};
  std::vector<std::unique_ptr<Stream>> streams{};
};

TEST_CASE("UringDriver: a buffer that a starved receive has no use for goes to the next one") {
  for (const bool by_reset : {false, true}) {
    INFO((by_reset ? "by a reset" : "by an end"));
    Starved starved;
    CHECK(starved.streams[2]->text + starved.streams[3]->text == "");
    std::array<char, 8> taken{};
    CHECK(::recv(starved.ends[2]->first, taken.data(), taken.size(), 0) == 3);
    const linger at_once{by_reset ? 1 : 0, 0};
    ::setsockopt(starved.ends[2]->second, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    starved.ends[2]->close(starved.ends[2]->second);
    starved.streams[0]->give_back();
    starved.settle();
    CHECK(starved.streams[2]->last == (by_reset ? -ECONNRESET : 0));
    CHECK(starved.streams[3]->text == "abc");
    starved.end_all();
  }
}

Task<> reads_all_wrong(int from, int counter, std::vector<std::int64_t>& results) {
  std::array<char, 4> few{};
  results.push_back(co_await Request(Kind::read, {.descriptor = counter, .memory = few.data(), .length = 4}));
  results.push_back(co_await Request(Kind::read, {.descriptor = from, .memory = few.data(), .length = 4}));
  results.push_back(co_await Request(Kind::read, {.descriptor = counter, .memory = few.data(), .length = 4}));
}

// An eventfd wants eight bytes.
TEST_CASE(
    "UringDriver: what is wrong with a request is asked another way until one of its kind has succeeded") {
  UringExecutor uring;
  const Ends pipe(pipe_ends(), &uring.driver());
  const int counter = ::eventfd(1, EFD_CLOEXEC);
  CHECK(::write(pipe.second, "abc", 3) == 3);
  std::vector<std::int64_t> results;
  uring.executor.submit(reads_all_wrong(pipe.first, counter, results));
  uring.executor.run();
  CHECK(results == std::vector<std::int64_t>{-EINVAL, 3, -EINVAL});
  CHECK(uring.statistics().fallbacks == 1);
  uring.driver().closing(counter);
  ::close(counter);
}

}  // namespace
