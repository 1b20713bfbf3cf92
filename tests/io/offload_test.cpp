#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/offload.hpp>
#include <bide/executor/scope/timeout.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

using Log = std::vector<std::string>;

ExecutorOptions in_virtual_time(std::size_t threads = 4) {
  ExecutorOptions options;
  options.time = TimeMode::virtual_time;
  options.blocking_threads = threads;
  return options;
}

int doubled(int number) { return 2 * number; }
std::unique_ptr<int> moved(std::unique_ptr<int> number) { return number; }
std::thread::id this_thread() { return std::this_thread::get_id(); }
void fails() { throw std::runtime_error("no luck"); }

}  // namespace

TEST_CASE("offload: the result, or the exception, comes from another OS thread [threads]", "[threads]") {
  Executor executor(in_virtual_time());
  Log log;
  executor.submit({}, [&]() -> Task<> {
    log.push_back(std::to_string(co_await offload(doubled, 21)));
    const std::thread::id other = co_await offload(this_thread);
    log.push_back(other == std::this_thread::get_id() ? "the same thread" : "another thread");
    auto seven = std::make_unique<int>(7);
    const std::unique_ptr<int> back = co_await offload(moved, std::move(seven));
    log.push_back(std::to_string(*back));
    try {
      co_await offload(fails);
    } catch (const std::runtime_error& error) {
      log.push_back(error.what());
    }
  });
  executor.run();
  CHECK(log == Log{"42", "another thread", "7", "no luck"});
}

TEST_CASE("offload: virtual time stands still while it runs [threads]", "[threads]") {
  Executor executor(in_virtual_time());
  int ended = 0;
  executor.submit({}, [&]() -> Task<> {
    const auto work = [] { std::this_thread::sleep_for(1ms); };
    const auto task = [work]() -> Task<> { co_await offload(work); };
    for (int round = 0; round < 300; ++round) {
      co_await timeout(3s, task());
      ++ended;
    }
  });
  executor.run();
  CHECK(ended == 300);
  CHECK(executor.now() == Instant());
}

TEST_CASE("offload: a cancel takes back what has not begun, and waits for what has [threads]", "[threads]") {
  Executor executor(in_virtual_time(1));
  std::binary_semaphore begun(0);
  std::binary_semaphore go(0);
  std::atomic<int> calls = 0;
  Log log;
  const auto blocks = [&] {
    ++calls;
    begun.release();
    go.acquire();
    return 5;
  };
  const auto waits_for = [&](const char* name) -> Task<> {
    try {
      log.push_back(name + std::string(" got ") + std::to_string(co_await offload(blocks)));
    } catch (const Cancelled&) {
      log.push_back(name + std::string(" cancelled"));
      throw;
    }
    co_await Yield();
    log.push_back("never");
  };
  Handle<> first = executor.submit({}, waits_for, "first");
  Handle<> second = executor.submit({}, waits_for, "second");
  executor.submit({}, [&]() -> Task<> {
    begun.acquire();
    first.cancel();
    second.cancel();
    go.release();
    co_return;
  });
  executor.run();
  CHECK(calls == 1);
  CHECK(log == Log{"second cancelled", "first got 5"});
}

TEST_CASE("offload: entered cancelled, the function is not called [threads]", "[threads]") {
  Executor executor(in_virtual_time());
  std::atomic<int> calls = 0;
  Handle<> handle = executor.submit({}, [&]() -> Task<> {
    const auto counts = [&] { ++calls; };
    co_await offload(counts);
  });
  handle.cancel();
  executor.run();
  CHECK(calls == 0);
}

TEST_CASE("offload: the executor's end waits for what has begun [threads]", "[threads]") {
  std::atomic<bool> ended = false;
  std::binary_semaphore begun(0);
  {
    ExecutorOptions options;
    options.deadlock_after = 0ms;
    Executor executor(options);
    const auto slow = [&] {
      begun.release();
      std::this_thread::sleep_for(20ms);
      ended = true;
    };
    executor.submit({}, [&]() -> Task<> { co_await offload(slow); });
    executor.run_for(0ms);
    begun.acquire();
  }
  CHECK(ended);
}

TEST_CASE("offload: the executor's end sees what has ended already [threads]", "[threads]") {
  std::atomic<bool> called = false;
  {
    Executor executor(in_virtual_time());
    const auto note = [&] { called = true; };
    executor.submit({}, [&]() -> Task<> {
      co_await offload(note);
      FAIL("nobody looks for the end");
    });
    executor.run_one();
    while (!called) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);  // by then the pool has said so
  }
  CHECK(called);
}

TEST_CASE("offload: thousands pass through a few OS threads [threads]", "[threads]") {
  Executor executor(in_virtual_time(3));
  long sum = 0;
  for (int number = 0; number < 3000; ++number) {
    executor.submit({}, [&sum, number]() -> Task<> { sum += co_await offload(doubled, number); });
  }
  executor.run();
  CHECK(sum == 3000L * 2999);
}

TEST_CASE("offload: in a forked child it fails at once, and what the parent had begun can be left") {
  Executor executor(in_virtual_time(1));
  std::binary_semaphore begun(0);
  std::binary_semaphore go(0);
  const auto blocks = [&] {
    begun.release();
    go.acquire();
    return 1;
  };
  int result = 0;
  executor.submit({}, [&]() -> Task<> { result = co_await offload(blocks); });
  executor.submit({}, [&]() -> Task<> {
    begun.acquire();
    co_return;
  });
  while (executor.size() == 2) executor.run_one();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    int error = 0;
    {
      Executor own(in_virtual_time());
      own.submit({}, []() -> Task<> { co_await offload(doubled, 1); });
      own.run();  // an executor of its own works
    }
    executor.stop();
    executor.run();
    executor.submit({}, [&]() -> Task<> {
      try {
        co_await offload(doubled, 1);
      } catch (const std::system_error& failed) {
        error = failed.code().value();
      }
    });
    executor.run();
    executor.~Executor();
    ::_exit(error == EPERM ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  go.release();
  executor.run();
  CHECK(result == 1);
}
