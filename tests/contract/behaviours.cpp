#include "behaviours.hpp"

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <catch2/catch.hpp>

#include <bide/executor/io/choose_driver.hpp>

namespace bide::test {

namespace {

constexpr unsigned longest_seconds = 60;
const char* current_name = "";
const char* current_fault = "";

// Only what a signal handler may call.
void hung(int) {
  const auto say = [](const char* text) {
    static_cast<void>(::write(STDERR_FILENO, text, std::strlen(text)));
  };
  say("hung: ");
  say(current_name);
  say("; fault: ");
  say(current_fault);
  say("\n");
  ::_exit(1);
}

ExecutorOptions options_for(const DriverOptions& io) {
  ExecutorOptions options;
  options.io = io;
  return options;
}

bool uring_is_refused() {
  static const bool refused = [] {
    DriverOptions io;
    io.choice = DriverOptions::Choice::uring;
    try {
      Executor executor;
      static_cast<void>(make_driver(executor, io));
      return false;
    } catch (const std::system_error& error) {
      std::printf("io_uring is refused, and not tried: %s\n", error.what());
      return true;
    }
  }();
  return refused;
}

/// One behaviour on one driver, under each disturbance.
class Trial final : public Catch::ITestInvoker {
 public:
  Trial(std::string name, const Behaviour& behaviour, DriverOptions::Choice choice, Under under)
      : name_(std::move(name)), behaviour_(behaviour), under_(under) {
    behaviour_.io.choice = choice;
  }

  void invoke() const override {
    DriverOptions io = behaviour_.io;
    const bool uring = io.choice == DriverOptions::Choice::uring;
    if (uring_is_refused()) {
      if (uring) return;
      io.choice = DriverOptions::Choice::automatic;  // which has to come to the same
    }
    current_name = name_.c_str();
    std::signal(SIGALRM, hung);
    for (const Fault fault : faults) {
      if (fault > last_fault(under_)) break;
      INFO("fault: " << name_of(fault));
      current_fault = name_of(fault);
      ::alarm(longest_seconds);
      Stage stage(io, fault);
      CHECK(stage.executor.driver()->name() == (uring ? "io_uring" : "epoll"));
      behaviour_.check(stage);
      ::alarm(0);
    }
  }

 private:
  static Fault last_fault(Under under) {
    return under == Under::delays ? Fault::delayed : Fault::tried_again;
  }

  std::string name_;
  Behaviour behaviour_;
  Under under_;
};

}  // namespace

Stage::Stage(DriverOptions io, Fault disturbance) : fault(disturbance), executor(options_for(io)) {
  std::unique_ptr<Driver> driver = make_driver(executor, io);
  if (fault != Fault::none) driver = std::make_unique<FaultyDriver>(std::move(driver), fault);
  executor.install(std::move(driver));
}

std::string shown(std::int64_t result) {
  if (result >= 0) return std::to_string(result);
  const char* const name = ::strerrorname_np(static_cast<int>(-result));
  return name != nullptr ? name : std::to_string(result);
}

Handle<> Stage::call(const char* name, const Request& request) {
  const auto calls = [](Stage* stage, std::string what, Request wanted) -> Task<> {
    std::int64_t result = 0;
    try {
      result = co_await RawCall(wanted);
    } catch (const Cancelled&) {
      stage->note(what + ": cancelled");
      throw;
    }
    stage->note(what + ": " + shown(result));
  };
  return executor.submit({}, calls, this, std::string(name), request);
}

Behaviours::Behaviours(Under under, std::initializer_list<Behaviour> list, std::source_location where) {
  const Catch::SourceLineInfo line(where.file_name(), where.line());
  for (const Behaviour& behaviour : list) {
    for (const auto choice : {DriverOptions::Choice::uring, DriverOptions::Choice::epoll}) {
      const bool uring = choice == DriverOptions::Choice::uring;
      const std::string name = std::string(behaviour.name) + (uring ? " (io_uring)" : " (epoll)");
      const Catch::AutoReg registered(new Trial(name, behaviour, choice, under), line, "",
                                      Catch::NameAndTags(name, uring ? "[uring]" : "[epoll]"));
    }
  }
}

}  // namespace bide::test
