#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "refuse_calls.hpp"

// Runs a program in which the kernel refuses some system calls, as a container's profile or an old kernel does.
//
// usage: refusing ERROR CALL... -- PROGRAM [ARGUMENT...]     ERROR: EPERM or ENOSYS

using bide::test::refuse_calls;

namespace {

struct Call {
  std::string_view name;
  unsigned number;
};
constexpr Call calls[] = {
    {"io_uring_setup", SYS_io_uring_setup},
    {"io_uring_register", SYS_io_uring_register},
    {"epoll_pwait2", SYS_epoll_pwait2},
    {"preadv2", SYS_preadv2},
    {"pwritev2", SYS_pwritev2},
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(2);
}

unsigned number_of(std::string_view name) {
  for (const Call& call : calls) {
    if (call.name == name) return call.number;
  }
  std::fprintf(stderr, "refusing: what is %s?\n", std::string(name).c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  int next = 1;
  const unsigned error = argc > 1 && argv[next++] == std::string_view("EPERM") ? EPERM : ENOSYS;
  std::vector<unsigned> numbers;
  while (next < argc && argv[next] != std::string_view("--")) numbers.push_back(number_of(argv[next++]));
  if (++next >= argc) {
    std::fprintf(stderr, "usage: refusing ERROR CALL... -- PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  if (!refuse_calls(numbers, error)) fail("seccomp");
  ::execv(argv[next], argv + next);
  fail(argv[next]);
}
