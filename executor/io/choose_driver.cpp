#include <bide/executor/io/choose_driver.hpp>

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

}  // namespace

std::unique_ptr<Driver> make_driver(Executor& executor, const DriverOptions& options) {
  const Wanted choice = options.choice != Wanted::automatic ? options.choice : choice_of_environment();
  static_cast<void>(choice);
  return std::make_unique<EpollDriver>(executor, options);
}

Driver& driver_of(Executor& executor) {
  if (executor.driver() == nullptr) executor.install(make_driver(executor, executor.options().io));
  return *executor.driver();
}

}  // namespace bide
