#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

// Runs a program in which the kernel refuses some system calls, as a container's profile or an old kernel does.
//
// usage: refusing ERROR CALL... -- PROGRAM [ARGUMENT...]     ERROR: EPERM or ENOSYS

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

void refuse(const std::vector<unsigned>& numbers, unsigned error) {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail("seccomp");
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
  refuse(numbers, error);
  ::execv(argv[next], argv + next);
  fail(argv[next]);
}
