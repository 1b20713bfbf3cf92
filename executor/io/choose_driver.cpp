#include <bide/executor/io/choose_driver.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/epoll_driver.hpp>
#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/uring_driver.hpp>

namespace bide {

namespace {

using Wanted = DriverOptions::Choice;

Wanted choice_of_environment() {
  const char* const value = std::getenv("BIDE_DRIVER");
  if (value == nullptr || *value == '\0') return Wanted::automatic;
  const std::string_view text = value;
  if (text == "uring") return Wanted::uring;
  if (text == "epoll") return Wanted::epoll;
  throw std::invalid_argument("the environment variable BIDE_DRIVER is \"" + escaped(text) +
                              "\"; it may be uring or epoll");
}

// Once a process: a thousand executors of a test would say it a thousand times.
void tell_refusal(const std::string& why) {
  static std::atomic_flag told;
  if (!told.test_and_set())
    std::fprintf(stderr, "bide: io_uring is refused (%s): using epoll\n", why.c_str());
}

std::unique_ptr<Driver> uring_else_epoll(Executor& executor, const DriverOptions& options) {
  std::string refusal;
  try {
    return std::make_unique<UringDriver>(executor, options);
  } catch (const std::system_error& error) {
    refusal = error.what();
  }
  try {
    auto driver = std::make_unique<EpollDriver>(executor, options);
    tell_refusal(refusal);
    return driver;
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(), "neither io_uring (" + refusal + ") nor epoll is to be had");
  }
}

/// Holds the numbers of closed standard streams while a driver is made: one of its descriptors there would be what the
/// program reads as standard input, or prints to.
class StandardNumbersHeld {
 public:
  StandardNumbersHeld() {
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
      if (::fcntl(number, F_GETFD) < 0) held_[number] = ::open("/dev/null", O_RDWR | O_CLOEXEC) == number;
    }
  }
  ~StandardNumbersHeld() {
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
      if (held_[number]) ::close(number);
    }
  }
  StandardNumbersHeld(const StandardNumbersHeld&) = delete;
  StandardNumbersHeld& operator=(const StandardNumbersHeld&) = delete;

 private:
  bool held_[3] = {};
};

}  // namespace

std::unique_ptr<Driver> make_driver(Executor& executor, const DriverOptions& options) {
  const StandardNumbersHeld held;
  switch (options.choice != Wanted::automatic ? options.choice : choice_of_environment()) {
    case Wanted::uring:
      return std::make_unique<UringDriver>(executor, options);
    case Wanted::epoll:
      return std::make_unique<EpollDriver>(executor, options);
    case Wanted::automatic:
      break;
  }
  return uring_else_epoll(executor, options);
}

Driver& driver_of(Executor& executor) {
  if (executor.driver() == nullptr) executor.install(make_driver(executor, executor.options().io));
  return *executor.driver();
}

}  // namespace bide
