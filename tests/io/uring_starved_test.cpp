#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "shared_stream.hpp"
#include "uring_request.hpp"

// Receives that found no shared buffer, and who gets one that is given back.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

/// Two buffers, and streams on TCP ends that share them.
struct Streams {
  /// The first two hold both buffers, all others have data and wait for one, in order.
  static std::unique_ptr<Streams> starved(std::size_t count) {
    auto all = std::make_unique<Streams>();
    for (std::size_t i = 0; i < count; ++i) all->send(all->add());
    return all;
  }
  std::size_t add() {
    ends.push_back(std::make_unique<Ends>(tcp_ends()));
    streams.push_back(std::make_unique<SharedStream>(uring.driver(), ends.back()->first));
    uring.driver().start(*streams.back());
    settle();
    return streams.size() - 1;
  }
  void send(std::size_t to) {
    CHECK(::send(ends[to]->second, "abc", 3, 0) == 3);
    settle();
  }
  /// Takes what one has not received yet.
  void steal(std::size_t from) {
    std::array<char, 8> taken{};
    CHECK(::recv(ends[from]->first, taken.data(), taken.size(), 0) == 3);
  }
  void settle() {
    uring.executor.submit(sleeps(2ms));
    uring.executor.run();
  }
  ~Streams() {
    while (uring.driver().in_flight() > 0) {
      for (const auto& stream : streams) {
        stream->give_back();
        if (!stream->ended && !stream->cancel_asked) uring.driver().cancel(*stream);
      }
      settle();
    }
  }

  UringExecutor uring{DriverOptions{.buffer_count = 2}};
  std::vector<std::unique_ptr<Ends>> ends{};
  std::vector<std::unique_ptr<SharedStream>> streams{};
};

TEST_CASE("UringDriver: one buffer that is given back serves a starved receive, while another is held") {
  const auto all = Streams::starved(3);
  CHECK(all->streams[0]->held.size() == 1);
  CHECK(all->streams[2]->text.empty());
  all->streams[1]->give_back();
  all->settle();
  CHECK(all->streams[2]->text == "abc");
}

TEST_CASE("UringDriver: an idle receive in front does not keep a free buffer from one that has data") {
  const auto all = Streams::starved(2);
  all->add();  // finds no buffer, and has no data
  const std::size_t late = all->add();
  all->send(late);
  all->streams[0]->give_back();
  all->settle();
  CHECK(all->streams[late]->text == "abc");
}

TEST_CASE("UringDriver: a buffer that a starved receive has no use for goes to the next one") {
  for (const bool by_reset : {false, true}) {
    INFO((by_reset ? "by a reset" : "by an end"));
    const auto all = Streams::starved(4);
    CHECK(all->streams[2]->text + all->streams[3]->text == "");
    all->steal(2);
    const linger at_once{by_reset ? 1 : 0, 0};
    ::setsockopt(all->ends[2]->second, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    all->ends[2]->close(all->ends[2]->second);
    all->streams[0]->give_back();
    all->settle();
    CHECK(all->streams[2]->last == (by_reset ? -ECONNRESET : 0));
    CHECK(all->streams[3]->text == "abc");
  }
}

TEST_CASE("UringDriver: a buffer that is given back is offered to one that waits, not to all") {
  const auto all = Streams::starved(12);
  CHECK(all->uring.statistics().out_of_buffers == 10);
  for (std::size_t next = 2; next < 12; ++next) {
    all->streams[next - 2]->give_back();
    all->settle();
    CHECK(all->streams[next]->text == "abc");
  }
  CHECK(all->uring.statistics().out_of_buffers == 10);
}

TEST_CASE(
    "UringDriver: once all buffers are free, nobody who waits is held up by others that have no use for "
    "one") {
  const auto all = Streams::starved(5);
  all->steal(2);
  all->steal(3);
  all->streams[0]->give_back();
  all->streams[1]->give_back();
  all->settle();
  CHECK(all->streams[4]->text == "abc");
}

/// Two streams hold both buffers, and a third waits for data. That comes, and the kernel says that it has no buffer; what
/// `then` does comes just before the driver hears of it.
struct SameInstant {
  explicit SameInstant(const std::function<void(SameInstant&)>& then)
      : poll(pipe.first, [this, then] { then(*this); }) {
    all->add();
    all->uring.driver().start(poll);
    all->settle();
    CHECK(::write(pipe.second, "x", 1) == 1);
    all->send(2);
  }
  std::unique_ptr<Streams> all = Streams::starved(2);
  SharedStream& held() const { return *all->streams[0]; }
  SharedStream& third() const { return *all->streams[2]; }
  Ends pipe{pipe_ends()};
  Then poll;
};

TEST_CASE("UringDriver: a receive does not wait for a buffer that was given back in the same instant") {
  const SameInstant instant([](SameInstant& now) { now.held().give_back(); });
  CHECK(instant.third().text == "abc");
  CHECK(instant.all->uring.statistics().out_of_buffers == 0);
}

TEST_CASE("UringDriver: a receive that is cancelled in the instant in which it finds no buffer has ended") {
  const SameInstant instant([](SameInstant& now) { now.all->uring.driver().cancel(now.third()); });
  CHECK(instant.third().last == -ECANCELED);
  CHECK(instant.third().ended);
}

}  // namespace
