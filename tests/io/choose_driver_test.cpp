#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>

using namespace bide;

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
