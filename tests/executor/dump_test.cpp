#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include <bide/executor/dump.hpp>
#include <bide/executor/executor.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/shared_mutex.hpp>

#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::AtExit;
using bide::test::virtual_time;

std::string line_at(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

// The lines of the program below, in its order.
constexpr int sleep_line = __LINE__ + 9;
constexpr int event_line = sleep_line + 3;
constexpr int await_line = event_line + 3;
constexpr int lock_line = await_line + 4;
constexpr int member_line = lock_line + 3;
constexpr int second_member_line = member_line + 1;

// clang-format off
Task<> sleeps(Duration duration) {
  co_await Sleep(duration);
}
Task<> waits_inside(Event& event) {
  co_await event.wait();
}
Task<> waits(Event& event) {
  co_await waits_inside(event);
}
Task<> locks(Mutex& mutex, Event& event) {
  co_await Sleep(1ms);
  Mutex::Guard guard = co_await mutex.lock(); co_await waits(event);
}
Task<> body(TaskGroup& group, Mutex& mutex, Event& event) {
  group.submit(locks(mutex, event), {.name = "member", .priority = Priority::high});
  group.submit(sleeps(9s), {.name = "sleeper"});
  co_return;
}
// clang-format on
constexpr int owner_lock_line = __LINE__ + 2;
Task<> owner(Mutex& mutex, Event& event) {
  Mutex::Guard guard = co_await mutex.lock();
  co_await with_task_group(body, std::ref(mutex), std::ref(event));
}

TEST_CASE("Dump: tells name, class, state, since when, the lines, and who belongs to whose group") {
  Executor executor(virtual_time);
  Mutex mutex("bus");
  Event event("never");
  const int submit_line = __LINE__ + 1;
  executor.submit(owner(mutex, event), {.name = "owner", .priority = Priority::low});
  executor.submit(waits(event), {.name = "reader"});
  executor.submit(sleeps(Duration::max()));
  executor.run_until(Instant(1500us));
  executor.submit(sleeps(1ms), {.name = "new"});
  const std::string text = executor.dump();
  const std::string owner_line = text.substr(0, text.find("\n  thread 2"));
  CHECK_THAT(owner_line,
             Catch::StartsWith(
                 "executor at 1.5 ms: 6 threads, 6 resumes, 2 ticks\n"
                 "  thread 1 \"owner\" (low, runs as high) waits for 2 threads of a group to end at "));
  CHECK_THAT(owner_line, Catch::Contains(" since 0 s, awaited at "));
  CHECK_THAT(
      owner_line,
      Catch::Contains(
          "; submitted at " + line_at(submit_line) +
          "\n    thread 4 \"member\" (high) waits for mutex \"bus\" held by thread 1 (locked at " +
          line_at(owner_lock_line) + ") at " + line_at(lock_line) + " since 1 ms; submitted at " +
          line_at(member_line) + "\n    thread 5 \"sleeper\" (low, runs as high) sleeps until 9 s at " +
          line_at(sleep_line) + " since 0 s; submitted at " + line_at(second_member_line)));
  CHECK(text.substr(owner_line.size()) ==
        "\n  thread 2 \"reader\" (normal) waits for event \"never\" at " + line_at(event_line) +
            " since 0 s, awaited at " + line_at(await_line) + "; submitted at " + line_at(submit_line + 1) +
            "\n  thread 3 (normal) sleeps until 9223372036.854775807 s at " + line_at(sleep_line) +
            " since 0 s; submitted at " + line_at(submit_line + 2) +
            "\n  thread 6 \"new\" (normal) is ready; submitted at " + line_at(submit_line + 4) + "\n");
}

TEST_CASE("Dump: an executor without threads") {
  const Executor executor(virtual_time);
  CHECK(executor.dump() == "executor at 0 s: 0 threads, 0 resumes, 0 ticks\n");
}

TEST_CASE("Dump: names of threads and primitives forge no line") {
  Executor executor(virtual_time);
  Event event("x\n  thread 9 y\x1b[2J");
  executor.submit(waits(event), {.name = "a\nb"});
  CHECK_THROWS_WITH(executor.run(), Catch::Contains("\"a\\x0ab\""));
  const std::string text = executor.dump();
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(text, Catch::Contains("event \"x\\x0a  thread 9 y\\x1b[2J\""));
}

Task<> dumps(std::string& text) {
  text = Executor::current().dump();
  co_return;
}

TEST_CASE("Dump: from inside a thread, which is running, and from a post") {
  std::string in_thread, in_post;
  Executor executor(virtual_time);
  executor.submit(sleeps(1s), {.name = "other"});
  executor.submit(dumps(in_thread), {.name = "me"});
  executor.post([&] { in_post = executor.dump(); });
  executor.run();
  CHECK_THAT(in_thread, Catch::Contains("thread 1 \"other\" (normal) sleeps until 1 s at "));
  CHECK_THAT(in_thread, Catch::Contains("thread 2 \"me\" (normal) is running; submitted at "));
  CHECK_THAT(in_post, Catch::StartsWith("executor at 0 s: 1 thread, 2 resumes, 0 ticks\n"));
}

// Dumps at every event.
class Dumper : public Observer {
 public:
  void submitted(const GreenThread& thread) override { dump(thread); }
  void resumed(const GreenThread& thread, Instant) override { dump(thread); }
  void woken(const GreenThread& thread, Instant) override { dump(thread); }
  void cancelled(const GreenThread& thread, Instant) override { dump(thread); }
  void ended(const GreenThread& thread, Instant) override { dump(thread); }
  void time_moved(Instant, Instant) override { texts.push_back(Executor::current().dump()); }

  std::vector<std::string> texts;

 private:
  void dump(const GreenThread& thread) { texts.push_back(thread.executor->dump()); }
};

Task<> locks_and_yields(Mutex& mutex, SharedMutex& shared) {
  Mutex::Guard guard = co_await mutex.lock();
  SharedMutex::Guard reader = co_await shared.lock_shared();
  co_await Yield();
  reader.unlock();
  SharedMutex::Guard writer = co_await shared.lock();
  co_await Yield();
}
Task<> selects(Mutex& mutex, Handle<>& handle, Event& event) {
  const auto selected = co_await select(joining(handle), waiting(event), [&mutex] { return mutex.lock(); });
  static_cast<void>(selected);
  co_await Yield();
}

TEST_CASE("Dump: a hook may ask at every event, in the middle of a hand-over too, and changes nothing") {
  const auto run = [](Observer* observer) {
    Mutex mutex("m");
    SharedMutex shared("s");
    Event event;
    Executor executor(
        {.time = TimeMode::virtual_time, .observer = observer, .digest = ExecutorOptions::Digest::on});
    executor.submit(locks_and_yields(mutex, shared));
    executor.submit(locks_and_yields(mutex, shared), {.priority = Priority::high});
    Handle<> third = executor.submit(locks_and_yields(mutex, shared));
    executor.submit(selects(mutex, third, event));
    executor.submit(owner(mutex, event));
    Handle<> cancelled = executor.submit(locks_and_yields(mutex, shared));
    for (int turn = 0; turn < 3; ++turn) executor.run_one();
    cancelled.cancel();
    executor.run_for(2ms);
    event.set();
    CHECK_THROWS_AS(executor.run(), Deadlock);  // the owner of the group holds what its member waits for
    executor.stop();
    return executor.run().digest;
  };
  Dumper dumper;
  const auto dumped = run(&dumper);
  REQUIRE(dumped.has_value());
  CHECK(dumped == run(nullptr));
  CHECK(dumper.texts.size() > 20);
}

Task<> dumps_when_destroyed(Executor& executor, Event& event, std::string& text) {
  const AtExit exit([&] { text += executor.dump(); });
  co_await waits(event);
}
Task<> awaits_that(Executor& executor, Event& event, std::string& text) {
  const AtExit exit([&] { text += executor.dump(); });
  co_await dumps_when_destroyed(executor, event, text);
}

TEST_CASE("Dump: a destructor may ask while the executor destroys its threads") {
  Event event;
  std::string text;
  {
    Executor executor(virtual_time);
    executor.submit(waits(event), {.name = "older"});
    executor.submit(awaits_that(executor, event, text), {.name = "younger"});
    CHECK_THROWS_AS(executor.run(), Deadlock);
  }
  CHECK_THAT(text, Catch::Contains("thread 1 \"older\" (normal) has ended"));
  CHECK_THAT(text, Catch::Contains("thread 2 \"younger\" (normal) has ended"));
}

Task<> waits_shielded(Event& event) { co_await shielded(event.wait()); }

TEST_CASE("Dump: a cancelled thread says so") {
  Executor executor(virtual_time);
  Event event("end");
  Handle<> handle = executor.submit(waits_shielded(event));
  CHECK_THROWS_AS(executor.run(), Deadlock);
  handle.cancel();
  CHECK_THAT(executor.dump(), Catch::Contains("thread 1 (normal, cancelled) waits for event \"end\""));
}

Task<> recurses(int depth, Event& event) {
  if (depth == 0) {
    co_await event.wait();
  } else {
    co_await recurses(depth - 1, event);
  }
}

TEST_CASE("Dump: of a deep chain of awaits, the innermost") {
  Executor executor(virtual_time);
  Event event;
  executor.submit(recurses(1'000, event));
  CHECK_THROWS_AS(executor.run(), Deadlock);
  const std::string text = executor.dump();
  CHECK(text.size() < 4'000);
  CHECK_THAT(text, Catch::Contains(", and by 984 more; submitted at "));
  CHECK(executor.report().unfinished[0].awaits.size() == 1'000);
}

Task<> nests(int depth, Event& event);
Task<> nest_body(TaskGroup& group, int depth, Event& event) {
  group.submit(nests(depth, event));
  co_return;
}
Task<> nests(int depth, Event& event) {
  if (depth == 0) {
    co_await event.wait();
  } else {
    co_await with_task_group(nest_body, depth - 1, std::ref(event));
  }
}

TEST_CASE("Dump: groups nested deeply take no stack, and the indentation ends") {
  Executor executor(virtual_time);
  Event event;
  executor.submit(nests(20'000, event));
  CHECK_THROWS_AS(executor.run(), Deadlock);
  const std::string text = executor.dump();
  CHECK(text.size() < 20'000U * 1'000U);
  CHECK_THAT(text, Catch::Contains("\n" + std::string(64, ' ') + "thread 32 "));
  CHECK_THAT(text, Catch::Contains("\n" + std::string(64, ' ') + "thread 20001 "));
  CHECK_THAT(text, Catch::EndsWith("; under thread 20000\n"));
  executor.stop();
  executor.run();
}

Task<> sleeps_until_cancelled() { co_await Sleep(1h); }

TEST_CASE("Dump: in real time it tells since when a thread waits, on the executor's clock") {
  Executor executor;
  Event event;
  const Instant before = executor.now();
  executor.submit(waits(event));
  executor.submit(sleeps_until_cancelled());
  executor.run_for(1ms);
  const RunReport report = executor.report();
  REQUIRE(report.unfinished.size() == 2);
  for (const ThreadReport& thread : report.unfinished) {
    REQUIRE(thread.since.has_value());
    CHECK(*thread.since >= before);
    CHECK(*thread.since <= executor.now());
  }
}

Task<> sleeps_twice() {
  co_await Sleep(2s);
  co_await Sleep(5s);
}

TEST_CASE("Dump: a sleeper tells since when and until when it sleeps") {
  Executor executor(virtual_time);
  executor.submit(sleeps_twice());
  executor.run_until(Instant(4s));
  const ThreadReport sleeper = executor.report().unfinished.at(0);
  CHECK(sleeper.state == "sleeps until 7 s");
  CHECK(sleeper.since == Instant(2s));
  CHECK(executor.run().now == Instant(7s));
}

}  // namespace
