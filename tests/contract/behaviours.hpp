#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <bide/executor/driver.hpp>
#include <bide/executor/executor.hpp>

#include "../io/raw_call.hpp"
#include "faulty_driver.hpp"

namespace bide::test {

/// A result as it stands in a log: a number, or the name of the errno.
std::string shown(std::int64_t result);

/// Where a behaviour is tried: an executor in real time with the driver that is on trial.
class Stage {
 public:
  Stage(DriverOptions io, Fault disturbance);

  /// Runs until nothing is left. A behaviour that hangs ends the program, which says which one.
  void run() { executor.run(); }
  /// Adds to the log what the task threw, if it throws.
  template <class F, class... Args>
  Handle<> submit(F function, Args... arguments) {
    return executor.submit({}, &Stage::logged<F, Args...>, this, std::move(function),
                           std::move(arguments)...);
  }
  void note(std::string what) { log.push_back(std::move(what)); }
  /// A thread that does one operation, and notes "name: result"; an error by its name, or "cancelled".
  Handle<> call(const char* name, const Request& request);
  DriverStatistics counts() const { return executor.driver()->statistics(); }

  const Fault fault;
  std::vector<std::string> log;  // of threads, in order
  Executor executor;

 private:
  template <class F, class... Args>
  static Task<> logged(Stage* stage, F function, Args... arguments) {
    std::string error;
    try {
      co_await function(std::move(arguments)...);
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
    if (!error.empty()) stage->note("error: " + error);
  }
};

/// Calls `function` once nothing but this thread has anything to do.
template <class F>
void later(Stage& stage, F function) {
  stage.submit([function]() -> Task<> {
    co_await Sleep(std::chrono::milliseconds(2));
    function();
  });
}

using Log = std::vector<std::string>;

/// What every driver does, and how to see it.
struct Behaviour {
  const char* name;  // "TcpStream: what it does"
  void (*check)(Stage& stage);
  DriverOptions io{};
};

/// Which disturbances a behaviour has to stand, besides none.
enum class Under : std::uint8_t {
  delays,      // results are told late: what is told of single operations
  all_faults,  // and transfers are cut short, calls interrupted or put off: what objects promise
};

/// Makes one test case of each behaviour and driver, named "Unit: behaviour (epoll)". To be defined in the namespace of a
/// test file. Where io_uring is refused, its test cases pass with a word, and the test `io_uring_there` is skipped.
class Behaviours {
 public:
  Behaviours(Under under, std::initializer_list<Behaviour> list,
             std::source_location where = std::source_location::current());
};

}  // namespace bide::test
