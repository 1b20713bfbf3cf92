#include <poll.h>
#include <sys/syscall.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/choose_driver.hpp>

#include "../contract/refuse_calls.hpp"
#include "../executor/death.hpp"
#include "raw_call.hpp"

// What the kernel's epoll set holds and says, and to whom.

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

using Results = std::vector<std::int64_t>;

ExecutorOptions on_epoll() {
  ExecutorOptions options;
  options.io.choice = DriverOptions::Choice::epoll;
  return options;
}

Task<> polls_for_input(int descriptor, Results& results) {
  results.push_back(co_await RawCall(polling(descriptor, POLLIN)));
}

/// In flight on its own; tells how it ended.
struct Loose final : Operation {
  Loose(const Request& request, Results& to) : Operation(request.kind), told(to) { fill(*this, request); }
  void completed() noexcept override { told.push_back(result); }
  Results& told;
};

/// A receive at whose end a descriptor's number becomes another file, which is polled.
struct Replacing final : Operation {
  Replacing(const Request& request, Driver& of, int file, Operation& polled)
      : Operation(request.kind), driver(of), by(file), poll(polled) {
    fill(*this, request);
  }
  void completed() noexcept override {
    done = true;
    driver.closing(poll.descriptor);
    ::dup3(by, poll.descriptor, O_CLOEXEC);
    driver.start(poll);
  }
  Driver& driver;
  int by;
  Operation& poll;
  bool done = false;
};

/// Whether any epoll set of this process has it.
bool watched_by_kernel(int descriptor) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream about(entry.path());
    std::string word;
    for (std::string before; about >> word; before = word)
      if (before == "tfd:" && word == std::to_string(descriptor)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("EpollDriver: a poll that was cancelled leaves nothing in the kernel's set") {
  const Ends ends = Ends::pipe();
  Executor executor(on_epoll());
  Results log;
  Handle<> poll = executor.submit(polls_for_input(ends[0], log));
  executor.run_for(Duration::zero());
  CHECK(watched_by_kernel(ends[0]));
  poll.cancel();
  executor.run();
  CHECK(log.empty());
  CHECK_FALSE(watched_by_kernel(ends[0]));
}

TEST_CASE("EpollDriver: an event of a descriptor that was closed is not one of its number's next owner") {
  Executor executor(on_epoll());
  Driver& driver = driver_of(executor);
  const Ends first = Ends::sockets();
  Ends second = Ends::sockets();
  const Ends fresh = Ends::sockets();
  const int number = second[0];
  std::array<char, 4> memory{};
  Results log;
  Loose known(receiving(number, memory), log);
  driver.start(known);  // so that the kernel watches it
  CHECK(::send(second[1], "x", 1, 0) == 1);
  executor.submit({}, [&]() -> Task<> { co_await Sleep(1ms); });
  executor.run();
  CHECK(log == Results{1});
  Loose poll(polling(number, POLLIN), log);
  Replacing replaces(receiving(first[0], memory), driver, fresh[0], poll);
  driver.start(replaces);
  CHECK(::send(first[1], "x", 1, 0) == 1);   // two events at once, this one first,
  CHECK(::send(second[1], "x", 1, 0) == 1);  // and the other is of what is closed when it is seen
  executor.submit({}, [&]() -> Task<> { co_await Sleep(1ms); });
  executor.run();
  CHECK(replaces.done);
  CHECK(log == Results{1});
  driver.cancel(poll);
  driver.collect();
  CHECK(log == Results{1, -ECANCELED});
}

TEST_CASE(
    "EpollDriver: a kernel that waits for milliseconds alone waits a little longer, not again and again") {
  const Death child = death_of([] {
    if (!refuse_calls({SYS_epoll_pwait2}, ENOSYS)) return;
    const Ends ends = Ends::pipe();
    Executor executor(on_epoll());
    Results log;
    Handle<> poll = executor.submit(polls_for_input(ends[0], log));
    Handle<> sleeper = executor.submit({}, []() -> Task<> {
      for (int turn = 0; turn < 20; ++turn) co_await Sleep(300us);
    });
    while (!sleeper.done()) executor.run_one();
    std::fprintf(stderr, "%s", driver_of(executor).statistics().enters < 200 ? "rests" : "turns in circles");
    poll.cancel();
    executor.run();
  });
  CHECK(child.said == "rests");
}
