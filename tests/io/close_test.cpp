#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <memory>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>

#include "../contract/refuse_calls.hpp"
#include "in_child.hpp"
#include "raw_call.hpp"

// A close is done, come what may: nobody else knows the number any more.

using namespace bide;
using namespace bide::test;
using Kind = Operation::Kind;

namespace {

// A kernel that refuses closes to io_uring leaves them to the pool; the epoll driver does so with files.
ExecutorOptions closes_on_pool(DriverOptions::Choice choice) {
  ExecutorOptions options;
  options.io.choice = choice;
  options.io.refused_kinds = 1U << static_cast<unsigned>(Kind::close);
  return options;
}

constexpr DriverOptions::Choice both[] = {DriverOptions::Choice::uring, DriverOptions::Choice::epoll};

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }
int some_file() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

std::int64_t closed_by(Executor& executor, int descriptor) {
  std::int64_t result = 1;
  executor.submit(
      {}, [&]() -> Task<> { result = co_await RawCall({.kind = Kind::close, .descriptor = descriptor}); });
  executor.run();
  return result;
}

TEST_CASE("Driver: a close is done where no OS thread can be made for it") {
  for (const auto choice : both) {
    CHECK(in_child([choice] {
            const int file = some_file();
            Executor executor(closes_on_pool(choice));
            if (!refuse_calls({SYS_clone, SYS_clone3}, EAGAIN)) return 0;
            if (closed_by(executor, file) != 0) return 1;
            return is_open(file) ? 2 : 0;
          }) == 0);
  }
}

TEST_CASE("Driver: a forked child closes its own copy of a descriptor, and the parent keeps its own") {
  for (const auto choice : both) {
    for (const bool on_pool : {false, true}) {
      ExecutorOptions options = closes_on_pool(choice);
      if (!on_pool) options.io.refused_kinds = 0;
      Executor executor(options);
      CHECK(closed_by(executor, some_file()) == 0);
      const int file = some_file();
      CHECK(in_child([&] {
              if (closed_by(executor, file) != 0) return 1;
              return is_open(file) ? 2 : 0;
            }) == 0);
      CHECK(is_open(file));
      CHECK(closed_by(executor, file) == 0);
      CHECK_FALSE(is_open(file));
    }
  }
}

/// Once it has ended it starts another operation.
class Chain final : public Operation {
 public:
  Chain(Kind what, int on, Driver& driver, Chain* after) : Operation(what), driver_(driver), next_(after) {
    descriptor = on;
    memory = &byte_;
    length = 1;
  }
  void completed() noexcept override {
    last = result;
    if (next_ != nullptr) driver_.start(*next_);
  }
  std::int64_t last = 1;

 private:
  Driver& driver_;
  Chain* next_;
  char byte_ = 0;
};

TEST_CASE("Driver: what is started while it ends is cancelled, but for a close") {
  for (const auto choice : both) {
    for (const bool on_pool : {false, true}) {
      const Ends idle = Ends::sockets();
      const int file = some_file();
      std::unique_ptr<Chain> close;
      std::unique_ptr<Chain> second;
      std::unique_ptr<Chain> first;
      {
        ExecutorOptions options = closes_on_pool(choice);
        if (!on_pool) options.io.refused_kinds = 0;
        Executor executor(options);
        Driver& driver = driver_of(executor);
        close = std::make_unique<Chain>(Kind::close, file, driver, nullptr);
        second = std::make_unique<Chain>(Kind::receive, idle[0], driver, close.get());
        first = std::make_unique<Chain>(Kind::receive, idle[0], driver, second.get());
        driver.start(*first);
      }
      CHECK(first->last == -ECANCELED);
      CHECK(second->last == -ECANCELED);
      CHECK(close->last == 0);
      CHECK_FALSE(is_open(file));
    }
  }
}

}  // namespace
