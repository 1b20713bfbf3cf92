#include <cstdint>

#include <catch2/catch.hpp>

#include <bide/timers/clock.hpp>

#include "uring_request.hpp"

// What waiting for the outside asks of the clock.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using bide::test::uring::Ends;  // lest raw_call.hpp's be meant where files are joined
using bide::test::uring::Request;

namespace {

class CountedClock final : public Clock {
 public:
  Instant now() override {
    ++readings;
    return real_.now();
  }
  int readings = 0;

 private:
  RealClock real_;
};

constexpr int operations = 100;

Task<> polls(int on, Instant& last_seen, bool& goes_on) {
  for (int number = 0; number < operations; ++number) {
    static_cast<void>(co_await Request(Kind::poll, {.descriptor = on, .flags = POLLIN}));
    goes_on = goes_on && *running.now > last_seen;
    last_seen = *running.now;
  }
}

TEST_CASE(
    "Executor: operations one by one, without a timer, read the clock once each, and each sees it anew") {
  CountedClock clock;
  ExecutorOptions options;
  options.clock = &clock;
  UringExecutor uring({}, options);
  const Ends pipe(pipe_ends());
  CHECK(::write(pipe.second, "x", 1) == 1);
  Instant last_seen = Instant::min();
  bool goes_on = true;
  uring.executor.submit(polls(pipe.first, last_seen, goes_on));
  const int before = clock.readings;
  uring.executor.run();
  CHECK(goes_on);
  CHECK(clock.readings - before <= operations + 5);
}

TEST_CASE("Executor: a limit is not passed early where nothing else asked for the time") {
  const Ends idle(pipe_ends());
  Repeating poll(Kind::poll, idle.first);  // outlives the driver, which ends it
  UringExecutor uring;
  poll.repeats = false;
  poll.flags = POLLIN;
  uring.driver().start(poll);
  constexpr Duration limit = std::chrono::milliseconds(3);
  for (int round = 0; round < 3; ++round) {
    const Instant begun = RealClock().now();
    uring.executor.submit(sleeps(std::chrono::milliseconds(1)));
    uring.executor.run_for(limit);
    CHECK(RealClock().now() - begun >= limit);
  }
}

}  // namespace
