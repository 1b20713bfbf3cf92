#include <cstdio>
#include <exception>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>

// Ends with 77, which is "skipped", where the kernel refuses io_uring: the contract was then tried on epoll alone.

int main() {
  try {
    bide::Executor executor;
    bide::DriverOptions options;
    options.choice = bide::DriverOptions::Choice::uring;
    static_cast<void>(bide::make_driver(executor, options));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "io_uring is refused: %s\n", error.what());
    return 77;
  }
}
