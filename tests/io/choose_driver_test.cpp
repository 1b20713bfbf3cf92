#include <sys/resource.h>
#include <unistd.h>
#include <array>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>

#include "descriptor_count.hpp"
#include "raw_call.hpp"

using namespace bide;
using namespace bide::test;

namespace {

/// Sets the environment variable BIDE_DRIVER for a while.
class DriverVariable {
 public:
  explicit DriverVariable(const char* value) {
    if (const char* const now = std::getenv(name); now != nullptr) before_ = now;
    ::setenv(name, value, 1);
  }
  DriverVariable(const DriverVariable&) = delete;
  DriverVariable& operator=(const DriverVariable&) = delete;
  ~DriverVariable() {
    if (before_) {
      ::setenv(name, before_->c_str(), 1);
    } else {
      ::unsetenv(name);
    }
  }

 private:
  static constexpr const char* name = "BIDE_DRIVER";
  std::optional<std::string> before_;
};

std::string chosen(DriverOptions options = {}) {
  Executor executor;
  return std::string(make_driver(executor, options)->name());
}

}  // namespace

TEST_CASE("choose_driver: BIDE_DRIVER=epoll chooses epoll") {
  const DriverVariable variable("epoll");
  CHECK(chosen() == "epoll");
}

TEST_CASE("choose_driver: options come before the environment") {
  const DriverVariable variable("no such driver");
  CHECK(chosen({.choice = DriverOptions::Choice::epoll}) == "epoll");
}

TEST_CASE("choose_driver: an empty BIDE_DRIVER says nothing") {
  const DriverVariable variable("");
  CHECK_NOTHROW(chosen());
}

TEST_CASE("choose_driver: any other BIDE_DRIVER is an error that names the variable and what it may be") {
  const DriverVariable variable("kq\nueue");
  CHECK_THROWS_WITH(chosen(),
                    "the environment variable BIDE_DRIVER is \"kq\\x0aueue\"; it may be uring or epoll");
}

TEST_CASE("choose_driver: an executor has one driver, made at the first question") {
  Executor executor;
  CHECK(executor.driver() == nullptr);
  Driver& driver = driver_of(executor);
  CHECK(&driver_of(executor) == &driver);
  CHECK(executor.driver() == &driver);
}

TEST_CASE(
    "choose_driver: a set-up that fails at any descriptor leaks none, and the executor's next try works") {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  for (const auto choice : {DriverOptions::Choice::automatic, DriverOptions::Choice::epoll}) {
    const int open_before = descriptor_count();
    {
      Executor executor({.io = {.choice = choice}});
      const int lowest = ::dup(STDERR_FILENO);
      ::close(lowest);
      int refusals = 0;
      for (int more = 0; more < 8 && executor.driver() == nullptr; ++more) {
        const rlimit low{static_cast<rlim_t>(lowest + more), before.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &low);
        for (int twice = 0; twice < 2 && executor.driver() == nullptr; ++twice) {
          try {
            static_cast<void>(driver_of(executor));
          } catch (const std::system_error& error) {
            if (error.code() == std::errc::too_many_files_open) ++refusals;
          }
        }
        ::setrlimit(RLIMIT_NOFILE, &before);
        if (executor.driver() == nullptr)
          CHECK(descriptor_count() <= open_before + 1);  // the wake descriptor
      }
      CHECK(refusals >= 2);
      std::array<char, 1> memory{};
      std::int64_t result = -1;
      const Ends ends = Ends::pipe();
      CHECK(::write(ends[1], "x", 1) == 1);
      executor.submit({}, [&]() -> Task<> { result = co_await RawCall(reading(ends[0], memory)); });
      executor.run();
      CHECK(result == 1);
    }
    CHECK(descriptor_count() == open_before);
  }
}
