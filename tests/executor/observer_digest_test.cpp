#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "../random.hpp"
#include "gate.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Gate;
using bide::test::ms;
using bide::test::Timeline;

class Recorder final : public Observer {
 public:
  void submitted(const GreenThread& thread) override { note("submitted", thread); }
  void resumed(const GreenThread& thread, Instant when) override { note("resumed", thread, when); }
  void woken(const GreenThread& thread, Instant when) override { note("woken", thread, when); }
  void cancelled(const GreenThread& thread, Instant when) override { note("cancelled", thread, when); }
  void ended(const GreenThread& thread, Instant when) override { note("ended", thread, when); }
  void time_moved(Instant from, Instant to) override {
    timeline.push_back("time " + std::to_string(ms(from)) + " to " + std::to_string(ms(to)));
  }
  Timeline timeline;

 private:
  void note(const std::string& what, const GreenThread& thread) {
    timeline.push_back(what + " " + std::to_string(thread.id));
  }
  void note(const std::string& what, const GreenThread& thread, Instant when) {
    timeline.push_back(what + " " + std::to_string(thread.id) + "@" + std::to_string(ms(when)));
  }
};

Task<> sleeps(Duration duration) { co_await Sleep(duration); }
Task<> opens_and_cancels(Gate& gate, Handle<> handle) {
  co_await Sleep(2ms);
  gate.open();
  handle.cancel();
  co_await Yield();
}
Task<> passes(Gate& gate) { co_await gate.pass(); }

TEST_CASE("Observer: is told of every event, in order") {
  Recorder recorder;
  Gate gate;
  Executor executor({.time = TimeMode::virtual_time, .observer = &recorder});
  executor.submit(passes(gate));
  executor.submit(opens_and_cancels(gate, executor.submit(sleeps(5ms))));
  executor.run();
  CHECK(recorder.timeline == Timeline{"submitted 1", "submitted 2", "submitted 3", "resumed 1@0",
                                      "resumed 2@0", "resumed 3@0", "time 0 to 2", "woken 3@2", "resumed 3@2",
                                      "woken 1@2", "cancelled 2@2", "resumed 1@2", "ended 1@2", "resumed 2@2",
                                      "ended 2@2", "resumed 3@2", "ended 3@2"});
}

TEST_CASE("Observer: is told of a cancel once, and of none after the end") {
  Recorder recorder;
  Executor executor({.time = TimeMode::virtual_time, .observer = &recorder});
  Handle<> handle = executor.submit(sleeps(5ms));
  handle.cancel();
  handle.cancel();
  executor.stop();
  executor.run();
  handle.cancel();
  CHECK(recorder.timeline == Timeline{"submitted 1", "cancelled 1@0", "resumed 1@0", "ended 1@0"});
}

TEST_CASE("Observer: sees run_until move the clock, and nothing when an executor is destroyed") {
  Recorder recorder;
  {
    Executor executor({.time = TimeMode::virtual_time, .observer = &recorder});
    executor.submit(sleeps(5ms));
    executor.run_until(Instant(3ms));
  }
  CHECK(recorder.timeline == Timeline{"submitted 1", "resumed 1@0", "time 0 to 3"});
}

constexpr ExecutorOptions with_digest{.time = TimeMode::virtual_time, .digest = ExecutorOptions::Digest::on};

Task<> random_life(std::uint64_t seed, int depth) {
  test::Random random(seed);
  for (int turn = 0; turn < 6; ++turn) {
    const std::uint64_t what = random.below(6);
    if (what < 2) {
      co_await Sleep(Duration(static_cast<std::int64_t>(random.below(4))));
    } else if (what == 2) {
      co_await Yield();
    } else if (depth > 0) {
      const auto priority = static_cast<Priority>(random.below(4));
      Handle<> child = submit(random_life(random.next(), depth - 1), {.priority = priority});
      if (what == 4) child.cancel();
      bool cancelled = false;
      try {
        if (what != 5) co_await child;
      } catch (const Cancelled&) {
        cancelled = true;
      }
      if (cancelled && random.below(2) == 0) co_return;
    }
  }
}

RunReport mixed_program(std::uint64_t seed, std::uint64_t promote_every) {
  ExecutorOptions options = with_digest;
  options.promote_every = promote_every;
  Executor executor(options);
  test::Random random(seed);
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t child_seed =
        random.next();  // not in the call: the order of arguments is the compiler's
    const auto priority = static_cast<Priority>(random.below(4));
    const auto number = static_cast<std::int64_t>(random.below(9));
    executor.submit(random_life(child_seed, 3), {.priority = priority});
    executor.submit(sleeps(Duration(number)), {.deadline_in = number * 1s});
  }
  return executor.run();
}

TEST_CASE("Digest: is there when asked for") {
  Executor without(test::virtual_time);
  CHECK_FALSE(without.run().digest.has_value());
  Executor with(with_digest);
  CHECK(with.run().digest == ScheduleDigest());
}

TEST_CASE("Digest: equal schedules have equal ones, other schedules have others") {
  const RunReport first = mixed_program(1, 0);
  const RunReport again = mixed_program(1, 0);
  CHECK(first.digest == again.digest);
  CHECK(first.resumes == again.resumes);
  CHECK(first.digest != mixed_program(2, 0).digest);
  CHECK(first.digest != mixed_program(1, 3).digest);
}

std::optional<ScheduleDigest> two_sleeps(Duration first, Duration second,
                                         Priority priority = Priority::normal) {
  Executor executor(with_digest);
  executor.submit(sleeps(first), {.priority = priority});
  executor.submit(sleeps(second), {.priority = priority});
  return executor.run().digest;
}

TEST_CASE("Digest: tells apart orders, times, classes and ends that differ in one event") {
  const std::optional<ScheduleDigest> digest = two_sleeps(1ms, 2ms);
  CHECK(digest == two_sleeps(1ms, 2ms));
  CHECK(digest != two_sleeps(2ms, 1ms));
  CHECK(digest != two_sleeps(1ms, Duration(2ms) + 1ns));
  CHECK(digest != two_sleeps(1ms, 2ms, Priority::high));
  Executor stopped(with_digest);
  stopped.submit(sleeps(1ms));
  stopped.submit(sleeps(2ms));
  stopped.run_until(Instant(1ms));
  stopped.stop();
  CHECK(digest != stopped.run().digest);
}

// The same on every compiler, at every level, under every sanitizer: no address, hash or wall time enters.
TEST_CASE("Digest: of one mixed program is this constant on every build") {
  const RunReport report = mixed_program(2024, 5);
  CHECK(to_string(report.digest.value()) == "be3c7a30a269d601e2ddc85c9f4c6201");
  CHECK(report.resumes == 1350);
}

TEST_CASE("Digest: of an empty schedule is printed with 32 digits") {
  CHECK(to_string(ScheduleDigest()) == "6a09e667f3bcc908bb67ae8584caa73b");
}

}  // namespace
