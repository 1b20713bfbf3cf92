// Runs, sleeps and tasks in the situations that are easily forgotten.

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/executor_guest.hpp>
#include <bide/executor/scope/outcome.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/timed_call.hpp>
#include <bide/tests/executor/death.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

constexpr ExecutorOptions virtual_time{.time = TimeMode::virtual_time};

Task<> sleep_in_pieces(std::vector<Instant>* cut, Instant* over) {
  SleepUntil due(Instant(3500ms));
  for (;;) {
    const bool done = co_await try_timeout(1s, due);
    if (done) break;
    cut->push_back(now());
  }
  *over = now();
}

}  // namespace

TEST_CASE("Sleep: one that was cut off is awaited again, and is due when it was") {
  Executor executor(virtual_time);
  std::vector<Instant> cut;
  Instant over{};
  executor.submit(sleep_in_pieces(&cut, &over));
  executor.run();
  CHECK(cut == std::vector<Instant>{Instant(1s), Instant(2s), Instant(3s)});
  CHECK(over == Instant(3500ms));
}

namespace {

/// A millisecond passes with each reading.
class SlowClock final : public Clock {
 public:
  Instant now() override { return time_ += 1ms; }

 private:
  Instant time_{};
};

Task<> always_ready(int* turns, int most) {
  for (; *turns < most; ++*turns) co_await Yield();
}

}  // namespace

TEST_CASE("run_for: in real time it ends beside a thread that never waits") {
  SlowClock clock;
  Executor executor({.clock = &clock});
  int turns = 0;
  executor.submit(always_ready(&turns, 10'000'000));
  executor.run_for(10ms);
  CHECK(turns > 0);
  CHECK(turns < 10'000);
  executor.run_for(0ms);  // each thread that is ready has a turn
  const int before = turns;
  executor.run_for(0ms);
  CHECK(turns > before);
  executor.stop();
  executor.run();
}

namespace {

Task<> clean_up() {
  co_await Yield();
  co_await Yield();
}

Task<> spin_and_clean_up(int* cleaned) {
  bool stopped = false;
  try {
    for (;;) co_await Yield();
  } catch (const Cancelled&) {
    stopped = true;
  }
  if (stopped) co_await shielded(clean_up());
  ++*cleaned;
}

}  // namespace

TEST_CASE("Livelock: after it, stop lets the threads end, also by run_one") {
  Executor executor({.time = TimeMode::virtual_time, .livelock_after = 1'000});
  int cleaned = 0;
  for (int i = 0; i < 100; ++i) executor.submit(spin_and_clean_up(&cleaned));
  CHECK_THROWS_AS(executor.run(), Livelock);
  executor.stop();
  while (executor.run_one()) {
  }
  CHECK(cleaned == 100);
}

namespace {

class ChoosesFirst final : public Chooser {
 public:
  std::size_t choose(Choice, std::size_t, std::uint64_t) override { return 0; }
};

class NotesTurns final : public Observer {
 public:
  void resumed(const GreenThread& thread, Instant) override { turns += std::to_string(thread.id); }
  std::string turns{};
};

Task<> yield_often() {
  for (int i = 0; i < 6; ++i) co_await Yield();
}

std::string turns_with(Chooser* chooser) {
  NotesTurns notes;
  Executor executor(
      {.time = TimeMode::virtual_time, .promote_every = 2, .observer = &notes, .chooser = chooser});
  executor.submit(yield_often(), {.priority = Priority::low});
  executor.submit(yield_often());
  executor.submit(yield_often());
  executor.run();
  return notes.turns;
}

}  // namespace

TEST_CASE("Chooser: one that takes the first changes nothing, with promotion too") {
  ChoosesFirst first;
  CHECK(turns_with(&first) == turns_with(nullptr));
}

namespace {

class CountsAtTheEnd {
 public:
  explicit CountsAtTheEnd(int* count) : count_(count) {}
  CountsAtTheEnd(CountsAtTheEnd&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  ~CountsAtTheEnd() {
    if (count_ != nullptr) ++*count_;
  }

 private:
  int* count_;
};

Task<> hold_count(CountsAtTheEnd) { co_return; }

/// Its destructor makes a task, and drops it.
class DropsATask {
 public:
  explicit DropsATask(int* seen) : seen_(seen) {}
  DropsATask(DropsATask&& other) noexcept : seen_(std::exchange(other.seen_, nullptr)) {}
  ~DropsATask() {
    if (seen_ == nullptr) return;
    int count = 0;
    { const Task<> dropped = hold_count(CountsAtTheEnd(&count)); }
    *seen_ = count;
  }

 private:
  int* seen_;
};

Task<> hold_dropper(DropsATask) { co_return; }

}  // namespace

TEST_CASE("Task: one that is dropped goes at once, also in the destructor of another's argument") {
  int seen = -1;
  { const Task<> dropped = hold_dropper(DropsATask(&seen)); }
  CHECK(seen == 1);
}

namespace {

class ThrowsAtTheEnd {
 public:
  ThrowsAtTheEnd() {}
  ThrowsAtTheEnd(const ThrowsAtTheEnd&) = delete;
  ThrowsAtTheEnd& operator=(const ThrowsAtTheEnd&) = delete;
  ~ThrowsAtTheEnd() noexcept(false) { throw std::runtime_error("at the end"); }
};

Task<std::shared_ptr<int>> return_and_throw(std::shared_ptr<int> value) {
  const ThrowsAtTheEnd throws;
  co_return value;
}

Task<> await_it(std::shared_ptr<int> value, std::string* text) {
  try {
    co_await return_and_throw(std::move(value));
  } catch (const std::runtime_error& error) {
    *text = error.what();
  }
}

}  // namespace

TEST_CASE("Task: a destructor that throws after co_return is the result, and the value is gone") {
  Executor executor(virtual_time);
  const auto value = std::make_shared<int>(1);
  std::string text;
  executor.submit(await_it(value, &text));
  executor.run();
  CHECK(text == "at the end");
  CHECK(value.use_count() == 1);
}

namespace {

struct CannotMove {
  CannotMove() {}
  CannotMove(CannotMove&&) { throw std::runtime_error("no move"); }
};

Task<> send_and_look(Channel<CannotMove>& channel, std::string* text) {
  CannotMove item;
  const Outcome<> sent = co_await outcome(channel.send(std::move(item)));
  try {
    sent.value();
  } catch (const std::runtime_error& error) {
    *text = error.what();
  }
}

}  // namespace

TEST_CASE("outcome: what a move throws is an outcome, too") {
  Executor executor(virtual_time);
  Channel<CannotMove> channel(1);
  std::string text;
  executor.submit(send_and_look(channel, &text));
  executor.run();
  CHECK(text == "no move");
}

namespace {

Task<> receive_all(Channel<std::string>& channel, std::vector<std::string>* items) {
  auto next = channel.receive();
  for (;;) {
    std::optional<std::string> item = co_await next;
    if (!item) break;
    items->push_back(std::move(*item));
  }
}

Task<> send_two(Channel<std::string>& channel) {
  co_await channel.send("one that is longer than a string holds in itself");
  co_await channel.send("the other");
  channel.close();
}

}  // namespace

TEST_CASE("Channel: one awaiter of receive gives an item each time it is awaited, and the end") {
  for (const std::size_t capacity : {0U, 4U}) {
    Executor executor(virtual_time);
    Channel<std::string> channel(capacity);
    std::vector<std::string> items;
    executor.submit(receive_all(channel, &items));
    executor.submit(send_two(channel));
    executor.run();
    CHECK(items == std::vector<std::string>{"one that is longer than a string holds in itself", "the other"});
  }
}

namespace {

/// Comes again each second, whatever becomes of the threads.
class Ticking final : private TimedCall {
 public:
  explicit Ticking(Executor& executor) : executor_(executor) { arm(executor, executor.now() + 1s); }

 private:
  void due() noexcept override { arm(executor_, executor_.now() + 1s); }
  Executor& executor_;
};

Task<> fail() {
  co_await Yield();
  throw std::runtime_error("a thread failed");
}

}  // namespace

TEST_CASE("run: throws the error of a thread, though something is to come that needs no thread") {
  Executor executor(virtual_time);
  const Ticking ticking(executor);
  executor.submit(fail());
  CHECK_THROWS_WITH(executor.run(), "a thread failed");
  CHECK(executor.now() == Instant());
}

namespace {

Task<> nothing() { co_return; }

class SubmitsAgain final : public ExecutorGuest {
 public:
  explicit SubmitsAgain(Executor& executor) : executor_(executor) { attach(executor); }
  bool submit_or_ask() {
    Task<> task = nothing();
    if (executor_.try_submit(task)) return true;
    ask_for_room();
    return false;
  }
  int came = 0;
  bool gone = false;

 private:
  void room_came() override {
    ++came;
    submit_or_ask();
  }
  void executor_goes() noexcept override { gone = true; }
  Executor& executor_;
};

Task<> stop_and_ask(SubmitsAgain& guest, bool* submitted) {
  Executor::current().stop();
  *submitted = guest.submit_or_ask();
  co_return;
}

}  // namespace

TEST_CASE("ExecutorGuest: room comes with the end of a thread, or with the run after a stop") {
  auto executor = std::make_unique<Executor>(ExecutorOptions{.time = TimeMode::virtual_time, .capacity = 1});
  SubmitsAgain guest(*executor);
  executor->submit(nothing());
  CHECK(!guest.submit_or_ask());
  executor->run();
  CHECK(guest.came == 1);
  bool submitted = true;
  executor->submit(stop_and_ask(guest, &submitted));
  executor->run();
  CHECK(!submitted);
  CHECK(guest.came == 1);  // submits are refused until the run has returned
  executor->run();
  CHECK(guest.came == 2);
  executor.reset();
  CHECK(guest.gone);
}

TEST_CASE("submit, post: a class that there is not is refused at once") {
  static constexpr auto wrong = static_cast<Priority>(7);
  const test::Death submitting = test::death_of([] {
    Executor executor(virtual_time);
    executor.submit(nothing(), {.priority = wrong});
  });
  const test::Death posting = test::death_of([] {
    Executor executor(virtual_time);
    executor.post([] {}, wrong);
  });
  for (const test::Death& death : {submitting, posting}) {
    CHECK(death.aborted);
    CHECK(death.said.find("class that there is not") != std::string::npos);
  }
}
