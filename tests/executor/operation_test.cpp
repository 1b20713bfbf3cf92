#include <cerrno>
#include <deque>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/blocking_pool.hpp>
#include <bide/executor/driver.hpp>
#include <bide/executor/executor.hpp>
#include <bide/executor/operation.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

/// Completes what a test tells it to, at the next look outside.
class ScriptedDriver final : public Driver {
 public:
  struct Answer {
    int descriptor;
    std::int64_t result;
  };
  std::vector<Answer> answers;  // given when the executor would wait, one a wait
  bool cancel_succeeds = true;  // a cancel ends the operation with -ECANCELED
  std::vector<std::string>* log = nullptr;

  ~ScriptedDriver() override { require(in_flight_.empty(), "in flight at the end"); }
  void start(Operation& operation) noexcept override { in_flight_.push_back(&operation); }
  void cancel(Operation& operation) noexcept override {
    if (log != nullptr) log->push_back("cancel " + std::to_string(operation.descriptor));
    if (cancel_succeeds) ended_.push_back({operation.descriptor, -ECANCELED});
  }
  void collect() noexcept override {
    while (!ended_.empty()) {
      const Answer answer = ended_.front();
      ended_.pop_front();
      for (std::size_t place = 0; place < in_flight_.size(); ++place) {
        Operation& operation = *in_flight_[place];
        if (operation.descriptor != answer.descriptor) continue;
        in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(place));
        operation.result = answer.result;
        operation.more = false;
        operation.completed();
        break;
      }
    }
  }
  void wait(Duration) noexcept override {
    if (answers.empty()) return;
    ended_.push_back(answers.front());
    answers.erase(answers.begin());
  }
  void closing(int) noexcept override {}
  std::span<std::byte> buffer(std::uint16_t) noexcept override { return {}; }
  void give_back(std::uint16_t) noexcept override {}
  bool buffers_scarce() const noexcept override { return false; }
  std::string_view name() const override { return "scripted"; }
  DriverStatistics statistics() const override { return {}; }

 private:
  std::vector<Operation*> in_flight_;
  std::deque<Answer> ended_;
};

class Request final : public OperationWait {
 public:
  explicit Request(int number, std::source_location where = std::source_location::current())
      : OperationWait(Kind::poll, where) {
    descriptor = number;
  }
  std::string describe() const override { return "answer " + std::to_string(descriptor); }
  bool await_ready() { return enter(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), *running.executor->driver());
  }
  std::int64_t await_resume() { return end(); }
};

/// A call on the pool that waits for the test.
class Blocking final : public OperationWait {
 public:
  explicit Blocking(std::binary_semaphore& go, std::source_location where = std::source_location::current())
      : OperationWait(Kind::call, where), go_(go) {}
  std::string describe() const override { return "a blocking call"; }
  bool await_ready() { return enter(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), running.executor->blocking_pool());
  }
  std::int64_t await_resume() { return end(); }
  std::binary_semaphore* begun = nullptr;

 private:
  std::int64_t call_blocking() noexcept override {
    if (begun != nullptr) begun->release();
    go_.acquire();
    return 42;
  }
  std::binary_semaphore& go_;
};

using Log = std::vector<std::string>;

Task<> ask(int number, Log& log) {
  try {
    const std::int64_t result = co_await Request(number);
    log.push_back(std::to_string(number) + ": " + std::to_string(result));
  } catch (const Cancelled&) {
    log.push_back(std::to_string(number) + ": cancelled");
  }
  try {
    co_await Yield();
  } catch (const Cancelled&) {
    log.push_back(std::to_string(number) + ": the next wait is cancelled");
  }
}

struct Setup {
  explicit Setup(ExecutorOptions options = {.time = TimeMode::virtual_time}) {
    auto made = std::make_unique<ScriptedDriver>();
    driver = made.get();
    executor = std::make_unique<Executor>(options);
    executor->install(std::move(made));
    driver->log = &log;
  }
  Log log;
  ScriptedDriver* driver;
  std::unique_ptr<Executor> executor;
};

}  // namespace

TEST_CASE("Operation: threads become ready in the order of the completions") {
  Setup setup;
  setup.driver->answers = {{2, 20}, {3, -EPIPE}, {1, 10}};
  for (const int number : {1, 2, 3}) setup.executor->submit(ask(number, setup.log));
  setup.executor->run();
  CHECK(setup.log == Log{"2: 20", "3: -32", "1: 10"});
}

TEST_CASE("Operation: a cancel asks once, and the thread goes on when the driver lets go") {
  Setup setup;
  auto handle = setup.executor->submit(ask(1, setup.log));
  setup.executor->submit(
      {},
      [](Log& log, Handle<>& other) -> Task<> {
        co_await Yield();
        other.cancel();
        other.cancel();
        log.push_back("asked");
      },
      std::ref(setup.log), std::ref(handle));
  setup.executor->run();
  CHECK(setup.log == Log{"cancel 1", "asked", "1: cancelled", "1: the next wait is cancelled"});
}

TEST_CASE("Operation: one that succeeds in spite of a cancel delivers its result") {
  Setup setup;
  setup.driver->cancel_succeeds = false;
  setup.driver->answers = {{1, 10}};
  auto handle = setup.executor->submit(ask(1, setup.log));
  setup.executor->submit(
      {},
      [](Handle<>& other) -> Task<> {
        co_await Yield();
        other.cancel();
      },
      std::ref(handle));
  setup.executor->run();
  CHECK(setup.log == Log{"cancel 1", "1: 10", "1: the next wait is cancelled"});
}

TEST_CASE("Operation: one that the driver ends without a cancel reports that, and is no Cancelled") {
  Setup setup;
  setup.driver->answers = {{1, -ECANCELED}};
  setup.executor->submit(ask(1, setup.log));
  setup.executor->run();
  CHECK(setup.log == Log{"1: -125"});
}

TEST_CASE("Operation: entered cancelled, it does not start") {
  Setup setup;
  auto handle = setup.executor->submit(ask(1, setup.log));
  handle.cancel();
  setup.executor->run();
  CHECK(setup.log == Log{"1: cancelled", "1: the next wait is cancelled"});
}

TEST_CASE("Operation: virtual time stands still while one is in flight") {
  Setup setup;
  setup.driver->answers = {{9, 0}, {9, 0}, {1, 10}};  // two waits bring nothing
  setup.executor->submit(
      {},
      [](Log& log) -> Task<> {
        co_await Sleep(1s);
        log.push_back("woke");
      },
      std::ref(setup.log));
  setup.executor->submit(ask(1, setup.log));
  const RunReport report = setup.executor->run();
  CHECK(setup.log == Log{"1: 10", "woke"});
  CHECK(report.ticks == 1);
}

TEST_CASE("Operation: the watchdog names the one that holds virtual time, and run can go on") {
  Setup setup({.time = TimeMode::virtual_time, .operation_watchdog = 1ms});
  setup.executor->submit(ask(7, setup.log), {.name = "reader"});
  std::string text;
  try {
    setup.executor->run();
  } catch (const OperationStuck& stuck) {
    text = stuck.what();
  }
  CHECK_THAT(text, Catch::Contains("\"reader\"") && Catch::Contains("waits for answer 7") &&
                       Catch::Contains("virtual time stands at 0 s"));
  setup.driver->answers = {{7, 70}};
  setup.executor->run();
  CHECK(setup.log == Log{"7: 70"});
}

TEST_CASE("Operation: an executor that ends cancels and awaits those in flight") {
  Setup setup;
  setup.driver->answers = {};
  for (const int number : {1, 2}) setup.executor->submit(ask(number, setup.log));
  setup.executor->run_one();
  setup.executor->run_one();
  setup.executor.reset();  // the driver checks that nothing is in flight any more
  CHECK(setup.log == Log{"cancel 1", "cancel 2"});
}

TEST_CASE("Operation: in real time a thread that waits for one is not deadlocked") {
  Setup setup({.time = TimeMode::real_time, .deadlock_after = 0s});
  setup.driver->answers = {{5, 0}, {5, 0}, {1, 10}};
  setup.executor->submit(ask(1, setup.log));
  setup.executor->run();
  CHECK(setup.log == Log{"1: 10"});
}

TEST_CASE("BlockingPool: runs calls elsewhere, and virtual time waits for them", "[threads]") {
  Executor executor({.time = TimeMode::virtual_time});
  std::binary_semaphore go{0};
  Log log;
  executor.submit(
      {},
      [](std::binary_semaphore& semaphore, Log& lines) -> Task<> {
        const std::int64_t result = co_await Blocking(semaphore);
        lines.push_back("result " + std::to_string(result));
      },
      std::ref(go), std::ref(log));
  executor.submit(
      {},
      [](std::binary_semaphore& semaphore, Log& lines) -> Task<> {
        co_await Yield();
        semaphore.release();
        co_await Sleep(1s);
        lines.push_back("woke");
      },
      std::ref(go), std::ref(log));
  executor.run();
  CHECK(log == Log{"result 42", "woke"});
}

TEST_CASE("BlockingPool: a cancel takes out what has not begun, and awaits what has", "[threads]") {
  Executor executor({.time = TimeMode::virtual_time, .blocking_threads = 1});
  std::binary_semaphore first{0};
  std::binary_semaphore second{0};
  std::binary_semaphore has_begun{0};
  Log log;
  const auto call = [](const char* name, std::binary_semaphore& semaphore, std::binary_semaphore& begun_now,
                       Log& lines) -> Task<> {
    std::string line = name;
    try {
      Blocking blocking(semaphore);
      blocking.begun = &begun_now;
      line += " " + std::to_string(co_await blocking);
    } catch (const Cancelled&) {
      line += " cancelled";
    }
    lines.push_back(line);
  };
  auto begun = executor.submit({}, call, "first", std::ref(first), std::ref(has_begun), std::ref(log));
  auto waiting = executor.submit({}, call, "second", std::ref(second), std::ref(has_begun), std::ref(log));
  executor.submit(
      {},
      [](Handle<>& one, Handle<>& other, std::binary_semaphore& semaphore,
         std::binary_semaphore& begun_now) -> Task<> {
        co_await Yield();
        begun_now.acquire();
        other.cancel();
        try {
          co_await other;
        } catch (const Cancelled&) {
        }
        one.cancel();
        semaphore.release();
      },
      std::ref(begun), std::ref(waiting), std::ref(first), std::ref(has_begun));
  executor.run();
  CHECK(log == Log{"second cancelled", "first 42"});
}

TEST_CASE("BlockingPool: many calls on few threads all end", "[threads]") {
  Executor executor({.time = TimeMode::virtual_time, .blocking_threads = 3});
  int ended = 0;
  std::vector<std::unique_ptr<std::binary_semaphore>> open;
  for (int call = 0; call < 200; ++call) {
    open.push_back(std::make_unique<std::binary_semaphore>(1));
    executor.submit(
        {},
        [](std::binary_semaphore& semaphore, int& count) -> Task<> {
          const std::int64_t result = co_await Blocking(semaphore);
          count += result == 42 ? 1 : 0;
        },
        std::ref(*open.back()), std::ref(ended));
  }
  executor.run();
  CHECK(ended == 200);
}
