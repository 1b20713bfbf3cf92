#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <string>

namespace bide::test {

/// How a child process ended that called a function.
struct Death {
  bool aborted = false;  // by SIGABRT
  std::string said;      // on stderr
};

/// Calls the function in a forked process, for broken contracts that end the process.
template <class F>
Death death_of(F function) {
  Death death;
  int ends[2];
  if (::pipe(ends) != 0) return death;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    for (const int signal : {SIGABRT, SIGSEGV}) {
      std::signal(signal, SIG_DFL);  // the test framework would report a failed test
    }
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    function();
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[1024];
  for (ssize_t size = 0; (size = ::read(ends[0], text, sizeof text)) > 0;) {
    death.said.append(text, static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  death.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return death;
}

}  // namespace bide::test
