#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <exception>

namespace bide::test {

/// Runs the function in a forked process. Returns: what it returned, or -1 if a signal ended it.
template <class F>
int in_child(F function) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGABRT, SIGSEGV, SIGTERM}) std::signal(signal, SIG_DFL);
    int code = 99;
    try {
      code = function();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace bide::test
