#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/buffered_reader.hpp>

#include "../random.hpp"
#include "io_run.hpp"

using namespace bide;
using namespace bide::test;

namespace {

// A text that comes in pieces of at most so many bytes.
class Pieces {
 public:
  Pieces(std::string text, std::size_t largest) : text_(std::move(text)), largest_(largest) {}
  Task<std::size_t> read(std::span<std::byte> into) {
    co_await Yield();
    const std::size_t bytes = std::min({into.size(), largest_, text_.size() - at_});
    std::memcpy(into.data(), text_.data() + at_, bytes);
    at_ += bytes;
    co_return bytes;
  }
  std::string name() const { return "pieces"; }

 private:
  std::string text_;
  std::size_t largest_;
  std::size_t at_ = 0;
};

static_assert(ByteSource<Pieces>);
static_assert(!ByteSink<Pieces>);
static_assert(ByteSource<BufferedReader<Pieces>>);

constexpr ExecutorOptions in_virtual_time{.time = TimeMode::virtual_time};

Task<std::vector<std::string>> lines_of(std::string text, std::size_t piece, std::size_t capacity,
                                        std::size_t limit) {
  Pieces source(std::move(text), piece);
  BufferedReader reader(source, capacity);
  std::vector<std::string> lines;
  try {
    while (auto line = co_await reader.read_line(limit)) {
      lines.push_back(std::string(*line) + (reader.ended_early() ? "<end>" : ""));
    }
  } catch (const std::system_error& error) {
    lines.emplace_back(error.what());
  }
  co_return lines;
}

std::vector<std::string> lines(const std::string& text, std::size_t piece, std::size_t capacity = 64,
                               std::size_t limit = SIZE_MAX) {
  return run_io(lines_of(text, piece, capacity, limit), in_virtual_time);
}

TEST_CASE("BufferedReader: lines come whole, whatever pieces they come in") {
  for (const std::size_t piece : {1U, 2U, 3U, 1000U}) {
    CHECK(lines("", piece).empty());
    CHECK(lines("\n", piece) == std::vector<std::string>{""});
    CHECK(lines("one\ntwo\r\n\r\n\nlast", piece) ==
          std::vector<std::string>{"one", "two", "", "", "last<end>"});
    CHECK(lines("a\rb\r\r\n", piece) == std::vector<std::string>{"a\rb\r"});
  }
}

TEST_CASE("BufferedReader: a line above the limit is an error that names it, one at the limit is not") {
  const std::string too_long = "read a line of at most 4 bytes from pieces: the line is too long";
  for (const std::size_t piece : {1U, 3U, 1000U}) {
    CHECK(lines("abcd\nabcd\r\nab", piece, 64, 4) == std::vector<std::string>{"abcd", "abcd", "ab<end>"});
    CHECK(lines("abcde\n", piece, 64, 4) == std::vector<std::string>{too_long});
    CHECK(lines("ab\nabcde", piece, 64, 4) == std::vector<std::string>{"ab", too_long});
    CHECK(lines("abcdef", piece, 6) == std::vector<std::string>{too_long});
    CHECK(lines("abcd\r\nabcd\r\n", piece, 6) == std::vector<std::string>{"abcd", "abcd"});
  }
}

TEST_CASE("BufferedReader: random texts, pieces and capacities give the lines of a simple split") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::string text;
    std::vector<std::string> expected;
    for (std::size_t line = 0; line < 30; ++line) {
      std::string content;
      for (std::size_t size = random.below(15); size > 0; --size) {
        content += static_cast<char>('a' + random.below(26));
      }
      expected.push_back(content);
      text += content + (random.below(2) == 0 ? "\n" : "\r\n");
    }
    REQUIRE(lines(text, 1 + random.below(40), 16 + random.below(50)) == expected);
  }
}

Task<std::vector<std::string>> frames_of(std::string text, std::size_t piece, std::size_t capacity,
                                         std::size_t limit) {
  Pieces source(std::move(text), piece);
  BufferedReader reader(source, capacity);
  std::vector<std::string> frames;
  try {
    while (auto frame = co_await reader.read_frame(limit)) frames.emplace_back(text_of(*frame));
  } catch (const std::system_error& error) {
    frames.emplace_back(error.what());
  }
  co_return frames;
}

std::vector<std::string> frames(const std::string& text, std::size_t piece, std::size_t limit = SIZE_MAX) {
  return run_io(frames_of(text, piece, 20, limit), in_virtual_time);
}

std::string frame(const std::string& text) {
  const auto head = frame_head(static_cast<std::uint32_t>(text.size()));
  return std::string(text_of(head)) + text;
}

TEST_CASE("BufferedReader: frames come whole, are bounded, and one that is cut is an error") {
  const std::string cut = "read a frame from pieces: the stream has ended";
  for (const std::size_t piece : {1U, 3U, 5U, 1000U}) {
    CHECK(frames("", piece).empty());
    CHECK(frames(frame("") + frame("ab") + frame("0123456789abcdef"), piece) ==
          std::vector<std::string>{"", "ab", "0123456789abcdef"});
    CHECK(frames(frame("ab") + std::string(2, '\0'), piece) == std::vector<std::string>{"ab", cut});
    CHECK(frames(frame("abc").substr(0, 6), piece) == std::vector<std::string>{cut});
    CHECK(frames(frame("abc").substr(0, 3), piece) == std::vector<std::string>{cut});
    CHECK(frames(frame("abcde"), piece, 4) ==
          std::vector<std::string>{"read a frame of at most 4 bytes from pieces: the frame is too long"});
    CHECK(frames(std::string("\xff\xff\xff\xff", 4), piece) ==
          std::vector<std::string>{"read a frame of at most 16 bytes from pieces: the frame is too long"});
  }
}

Task<std::vector<std::string>> mixed(std::size_t piece) {
  Pieces source("GET / HTTP\r\n\r\nbody--end--rest", piece);
  BufferedReader reader(source, 32);
  std::vector<std::string> got;
  if (auto head = co_await reader.read_until("\r\n\r\n"); head) got.emplace_back(*head);
  if (auto body = co_await reader.read_until("--end--"); body) got.emplace_back(*body);
  std::string rest(4, '\0');
  const std::size_t bytes = co_await read_exactly(reader, std::as_writable_bytes(std::span(rest)));
  got.push_back(rest.substr(0, bytes));
  auto end = co_await reader.read_until("x");
  got.emplace_back(end.has_value() ? "more" : "end");
  co_return got;
}

TEST_CASE("BufferedReader: pieces up to a delimiter, and then plain reads") {
  for (const std::size_t piece : {1U, 2U, 7U, 1000U}) {
    CHECK(run_io(mixed(piece), in_virtual_time) ==
          std::vector<std::string>{"GET / HTTP", "body", "rest", "end"});
  }
}

}  // namespace
