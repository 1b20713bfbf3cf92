#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <sys/eventfd.h>

#include "shared_stream.hpp"
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

Task<> gives_back_late(std::vector<std::unique_ptr<SharedStream>>& streams) {
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
    std::vector<std::unique_ptr<SharedStream>> streams;
    for (std::size_t i = 0; i < 100; ++i) {
      ends.push_back(std::make_unique<Ends>(tcp_ends()));
      streams.push_back(std::make_unique<SharedStream>(uring.driver(), ends[i]->first));
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

TEST_CASE("UringDriver: receives without a buffer wait without turning in circles") {
  UringExecutor uring({.buffer_count = 2});
  std::vector<std::unique_ptr<Ends>> ends;
  std::vector<std::unique_ptr<SharedStream>> streams;
  for (std::size_t i = 0; i < 20; ++i) {
    ends.push_back(std::make_unique<Ends>(tcp_ends()));
    streams.push_back(std::make_unique<SharedStream>(uring.driver(), ends[i]->first));
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
