#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bide::test {

/// Returns: false where the kernel has no seccomp.
inline bool install(std::vector<sock_filter> filter) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// From now on the kernel refuses these system calls to this process and its children, with that errno, for good.
/// Returns: false where it has no seccomp.
inline bool refuse_calls(const std::vector<unsigned>& numbers, unsigned error) {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return install(std::move(filter));
}

/// From now on the kernel refuses, with that errno, to map the part of an io_uring that is at this offset (IORING_OFF_*).
/// Returns: false where it has no seccomp.
inline bool refuse_ring_mappings(std::uint32_t offset, unsigned error) {
  constexpr std::uint32_t of_rings = MAP_SHARED | MAP_POPULATE;
  const auto argument = [](unsigned number) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + number * sizeof(std::uint64_t));
  };
  return install(
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(3)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, of_rings, 0, 3), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(5)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, offset, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)});
}

}  // namespace bide::test
