#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/process.hpp>
#include <bide/executor/io/signals.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "io_run.hpp"
#include "temporary_folder.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

using Stream = ChildOptions::Stream;

Task<std::string> read_to_end(PipeReader& source) {
  std::string all;
  std::string part(1000, '\0');
  for (;;) {
    const std::size_t came = co_await source.read(room(part));
    if (came == 0) co_return all;
    all.append(part, 0, came);
  }
}

// What the shell prints for a command.
Task<std::string> shell(std::string command, ChildOptions options = {}) {
  options.output = Stream::pipe;
  const std::vector<std::string> arguments{"-c", command};
  ChildProcess child = ChildProcess::spawn("sh", arguments, options);
  std::string text = co_await read_to_end(child.output());
  const ExitStatus status = co_await child.wait();
  if (!status.success()) text += status.to_string();
  co_return text;
}

TEST_CASE("ChildProcess: a spawn says that SIGCHLD is ignored") {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction without_status {};
  without_status.sa_flags = SA_NOCLDWAIT;
  for (const struct sigaction& chosen : {ignored, without_status}) {
    struct sigaction before {};
    ::sigaction(SIGCHLD, &chosen, &before);
    const Failure failure = run_io(failure_of([]() -> Task<> {
      ChildProcess child = ChildProcess::spawn("true", {});
      co_await child.wait();
    }));
    ::sigaction(SIGCHLD, &before, nullptr);
    CHECK(failure.text == "spawn true: SIGCHLD is ignored, so how it ends would be lost: No child processes");
  }
}

TEST_CASE("ChildProcess: a filter gets what is written, and gives it back") {
  const std::string sent = bytes_that_count(300'000);
  const std::string came = run_io([](const std::string& text) -> Task<std::string> {
    ChildProcess child = ChildProcess::spawn("cat", {}, {.input = Stream::pipe, .output = Stream::pipe});
    Handle<std::string> reading = submit(read_to_end(child.output()));
    co_await child.input().write_all(bytes_of(text));
    co_await child.input().close();
    std::string all = co_await reading;
    const ExitStatus status = co_await child.wait();
    const ExitStatus again = co_await child.wait();
    if (!status.success() || again != status) all += status.to_string();
    co_return all;
  }(sent));
  CHECK(came == sent);
}

TEST_CASE("ChildProcess: how it ended is told") {
  std::vector<std::string> ends;
  run_io([](std::vector<std::string>& into) -> Task<> {
    ChildProcess seven = ChildProcess::spawn("sh", {"-c", "exit 7"});
    const ExitStatus exited = co_await seven.wait();
    into.push_back(exited.to_string());
    ChildProcess sleeper = ChildProcess::spawn("sleep", {"1000"});
    const auto none = co_await try_timeout(1ms, sleeper.wait());
    into.emplace_back(none.has_value() ? "ended" : "runs");
    sleeper.kill(SIGTERM);
    const ExitStatus killed = co_await sleeper.wait();
    into.push_back(killed.to_string());
    sleeper.kill(SIGTERM);  // reaches nobody
  }(ends));
  CHECK(ends == std::vector<std::string>{"exited with 7", "runs", "killed by signal 15"});
}

std::string spawn_error(const std::string& program, const ChildOptions& options = {}) {
  try {
    ChildProcess child = ChildProcess::spawn(program, {}, options);
    return "runs";
  } catch (const std::system_error& error) {
    return error.what();
  }
}

TEST_CASE("ChildProcess: what can't be run is an error of spawn, and leaves nothing behind") {
  const int before = descriptor_count();
  CHECK(spawn_error("/x/y") == "spawn /x/y: No such file or directory");
  CHECK(spawn_error("/tmp") == "spawn /tmp: Permission denied");
  CHECK(spawn_error("true", {.input = Stream::pipe, .directory = "/no\nwhere"}) ==
        "spawn true in /no\\x0awhere: No such file or directory");
  CHECK(spawn_error(std::string("a\0b", 3)) == "spawn a\\x00b: \"a\\x00b\": Invalid argument");
  CHECK(descriptor_count() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("ChildProcess: environment, directory, streams, signals and descriptors are as asked for") {
  const TemporaryFolder folder;
  CHECK(run_io(shell("echo $HOME$ONLY; pwd", {.directory = "/usr"})).find("/usr\n") != std::string::npos);
  const std::vector<std::string> only{"ONLY=this", "PATH=/usr/bin:/bin"};
  CHECK(run_io(shell("echo $HOME$ONLY", {.environment = &only})) == "this\n");
  CHECK(run_io(shell("cat; echo end", {.input = Stream::null})) == "end\n");
  CHECK(run_io(shell("echo lost >&2", {.error = Stream::null})).empty());
  CHECK(run_io(shell("ls /proc/self/fd | wc -l", {.input = Stream::null})) == "4\n");  // three and the folder
  const std::string blocked = run_io([]() -> Task<std::string> {  // no shell: it unblocks them itself
    const SignalSet signals({SIGUSR1, SIGTERM});
    ChildProcess child =
        ChildProcess::spawn("grep", {"SigBlk", "/proc/self/status"}, {.output = Stream::pipe});
    std::string text = co_await read_to_end(child.output());
    co_await child.wait();
    co_return text;
  }());
  CHECK(blocked.find("0000000000000000") != std::string::npos);
}

// FAULTS K6
TEST_CASE("ChildProcess: a write to a child that is gone is an error, and no signal") {
  const Failure failure = run_io(failure_of([]() -> Task<> {
    ChildProcess child = ChildProcess::spawn("true", {}, {.input = Stream::pipe});
    co_await child.wait();
    co_await child.input().write_all(bytes_of("x"));
  }));
  CHECK(failure.code == std::errc::broken_pipe);
  CHECK(failure.text.find("write to a child's standard input") == 0);
}

TEST_CASE("ChildProcess: destruction kills and reaps, a cancel may kill, and one that is detached lives") {
  pid_t dropped = 0;
  pid_t detached = 0;
  std::string end = "not ended";
  run_io([](pid_t& first, pid_t& second, std::string& how) -> Task<> {
    {
      ChildProcess child = ChildProcess::spawn("sleep", {"1000"});
      first = child.id();
    }
    {
      ChildProcess child = ChildProcess::spawn("sleep", {"1000"});
      second = child.id();
      child.detach();
    }
    const ChildOptions killing{.on_cancel = ChildOptions::OnCancel::kill};
    ChildProcess child = ChildProcess::spawn("sleep", {"1000"}, killing);
    const auto status = co_await try_timeout(1ms, child.wait());
    if (status.has_value()) how = status->to_string();
  }(dropped, detached, end));
  CHECK(::kill(dropped, 0) == -1);
  CHECK(::kill(detached, SIGKILL) == 0);
  CHECK(::waitpid(detached, nullptr, 0) == detached);
  CHECK(end == "killed by signal 9");
}

// The pipe of the output ends when the last one that holds it is gone.
TEST_CASE("ChildProcess: a group of its own ends with its leader, by a cancel, and by destruction") {
  std::vector<std::string> ends;
  run_io([](std::vector<std::string>& into) -> Task<> {
    const ChildOptions options{
        .output = Stream::pipe, .on_cancel = ChildOptions::OnCancel::kill, .group = ChildOptions::Group::own};
    const std::string leaves = "sleep 1000 & echo .", stays = "sleep 1000 & echo .; wait";
    std::byte one[2];
    const std::vector<std::string> commands = {leaves, stays};
    for (const std::string& command : commands) {
      ChildProcess child = ChildProcess::spawn("sh", {"-c", command}, options);
      co_await child.output().read_exactly(one);
      const Duration patience = command == leaves ? Duration(1min) : Duration(1ms);
      const auto status = co_await try_timeout(patience, child.wait());
      into.push_back(status.has_value() ? status->to_string() : "runs");
      into.push_back(std::to_string(co_await child.output().read(one)));
    }
    ChildProcess child = ChildProcess::spawn("sh", {"-c", stays}, options);
    co_await child.output().read_exactly(one);
    PipeReader output = std::move(child.output());
    child = ChildProcess();
    into.push_back(std::to_string(co_await output.read(one)));
  }(ends));
  CHECK(ends == std::vector<std::string>{"exited with 0", "0", "killed by signal 9", "0", "0"});
}

Task<std::string> end_of_one_that_left_its_group() {
  const char* const program =
      "import os, time; os.setpgid(0, os.getpgid(os.getppid())); print('x', flush=True); time.sleep(1000)";
  const ChildOptions options{
      .output = Stream::pipe, .on_cancel = ChildOptions::OnCancel::kill, .group = ChildOptions::Group::own};
  ChildProcess child = ChildProcess::spawn("python3", {"-c", program}, options);
  std::byte one[1];
  co_await child.output().read_exactly(one);
  const std::optional<ExitStatus> ended = co_await try_timeout(1ms, child.wait());
  co_return ended ? ended->to_string() : "runs";
}

TEST_CASE("ChildProcess: one that has left its group is killed all the same") {
  CHECK(run_io(end_of_one_that_left_its_group()) == "killed by signal 9");
}

TEST_CASE("SignalSet: signals are awaited, to the process and to the OS thread, and unblocked at the end") {
  std::vector<int> got;
  run_io([](std::vector<int>& into) -> Task<> {
    SignalSet signals({SIGUSR1, SIGUSR2});
    const auto none = co_await try_timeout(1ms, signals.next());
    into.push_back(none.has_value() ? *none : 0);
    ::kill(::getpid(), SIGUSR1);
    into.push_back(co_await signals.next());
    Handle<> raiser = submit({}, []() -> Task<> {
      co_await Sleep(1ms);
      ::raise(SIGUSR2);
    });
    into.push_back(co_await signals.next());
    co_await raiser;
  }(got));
  CHECK(got == std::vector<int>{0, SIGUSR1, SIGUSR2});
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  CHECK(::sigismember(&blocked, SIGUSR1) == 0);
  CHECK_THROWS_AS(SignalSet({1000}), std::system_error);
}

}  // namespace
