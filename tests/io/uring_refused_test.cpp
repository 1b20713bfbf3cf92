#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

#include <catch2/catch.hpp>

#include <grp.h>
#include <liburing.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <bide/executor/io/choose_driver.hpp>

#include "../contract/refuse_calls.hpp"
#include "../executor/death.hpp"
#include "descriptor_count.hpp"
#include "in_child.hpp"
#include "temporary_folder.hpp"
#include "uring_request.hpp"

// Rings that can't be had: memory, descriptors, filters.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;

namespace {

// A user of this process's own: locked memory is counted by user, also what others have, or have had a moment ago.
bool become_stranger(rlim_t locked_bytes) {
  const auto stranger = static_cast<uid_t>(1'000'000 + ::getpid());
  const rlimit locked{locked_bytes, locked_bytes};
  return ::setrlimit(RLIMIT_MEMLOCK, &locked) == 0 && ::setgroups(0, nullptr) == 0 &&
         ::setresgid(stranger, stranger, stranger) == 0 && ::setresuid(stranger, stranger, stranger) == 0;
}

TEST_CASE("UringDriver: a user without privileges makes a thousand executors one after another") {
  if (::getuid() != 0) return;  // nobody else can become another user
  CHECK(in_child([] {
          if (!become_stranger(rlim_t{8} << 20U)) return 1;
          for (int i = 0; i < 1000; ++i) {
            UringExecutor uring;
            if (!works(uring)) return 2;
          }
          return 0;
        }) == 0);
}

TEST_CASE("UringDriver: where locked memory is short, the ring is smaller, or the error names the limit") {
  if (::getuid() != 0) return;
  CHECK(in_child([] {
          if (!become_stranger(64U << 10U)) return 1;
          try {
            UringExecutor uring({.submission_entries = 4096, .completion_entries = 32768});
            return works(uring) ? 0 : 2;
          } catch (const std::system_error& error) {
            return error.code().value() == ENOMEM ? 3 : 4;
          }
        }) == 0);
  CHECK(in_child([] {
          if (!become_stranger(4096)) return 1;
          try {
            UringExecutor uring;
          } catch (const std::system_error& error) {
            const std::string text = error.what();
            const bool named = text.find("RLIMIT_MEMLOCK is 4096 bytes") != std::string::npos;
            return named && error.code().value() == ENOMEM ? 0 : 2;
          }
          return 3;
        }) == 0);
}

/// What a ring's set-up says in a process that may not make this call; nothing where it succeeds.
std::string said_without(unsigned call, unsigned error) {
  const Death child = death_of([=] {
    if (!refuse_calls({call}, error)) return;
    try {
      UringExecutor uring;
    } catch (const std::system_error& refusal) {
      std::fputs(refusal.what(), stderr);
    }
  });
  return child.said;
}

TEST_CASE("UringDriver: where a filter forbids a call, the error names it") {
  const auto says = [](unsigned call, unsigned error, const char* text) {
    return said_without(call, error).find(text) != std::string::npos;
  };
  CHECK(
      says(SYS_io_uring_setup, EPERM, "forbidden to this process, as by the seccomp filter of a container"));
  CHECK(says(SYS_io_uring_register, EPERM, "io_uring_register is forbidden to this process"));
  CHECK(says(SYS_io_uring_register, ENOSYS, "io_uring_register is forbidden to this process"));
  CHECK(says(SYS_io_uring_enter, EPERM, "io_uring_enter is forbidden to this process"));
}

// What a program sees that would take either driver.
void set_up_without_mapping(std::uint32_t offset, unsigned error) {
  ::unsetenv("BIDE_DRIVER");
  if (!refuse_ring_mappings(offset, error)) return;
  const int before = descriptor_count();
  {
    Executor executor;
    if (driver_of(executor).name() != "epoll") std::fputs("io_uring was had\n", stderr);
  }
  if (descriptor_count() != before) std::fputs("a descriptor is left\n", stderr);
  if (content_of("/proc/self/maps").find("io_uring") != std::string::npos)
    std::fputs("a mapping is left\n", stderr);
}

TEST_CASE("UringDriver: where a part of its memory can't be mapped, one line says so, and nothing is left") {
  for (const std::uint64_t offset : {IORING_OFF_SQ_RING, IORING_OFF_SQES}) {
    const auto said = [offset](unsigned error) {
      return death_of([=] { set_up_without_mapping(static_cast<std::uint32_t>(offset), error); }).said;
    };
    INFO(offset);
    CHECK_THAT(said(ENOMEM),
               Catch::Matches("bide: io_uring is refused \\(io_uring: .* no room to map it "
                              "\\(.*, RLIMIT_AS is .*\\): Cannot allocate memory\\): using epoll\n"));
    CHECK_THAT(said(EPERM),
               Catch::Matches("bide: io_uring is refused \\(io_uring: forbidden to this process, .*: "
                              "Operation not permitted\\): using epoll\n"));
  }
}

TEST_CASE("UringDriver: a set-up that fails at any descriptor leaks none, and the next try works") {
  CHECK(in_child([] {
          const int before = descriptor_count();
          const int free = ::dup(0);
          ::close(free);
          rlimit limit{};
          ::getrlimit(RLIMIT_NOFILE, &limit);
          int refusals = 0;
          bool made = false;
          for (int more = 0; more < 8 && !made; ++more) {
            const rlimit low{static_cast<rlim_t>(free + more), limit.rlim_max};
            ::setrlimit(RLIMIT_NOFILE, &low);
            for (int twice = 0; twice < 2; ++twice) {
              try {
                UringExecutor uring({.registered_descriptors = 1024});
                made = true;
              } catch (const std::system_error& error) {
                ++refusals;
                if (error.code().value() != EMFILE) return 1;
              }
            }
            ::setrlimit(RLIMIT_NOFILE, &limit);
            if (descriptor_count() != before) return 2;
          }
          return made && refusals >= 2 ? 0 : 3;
        }) == 0);
}

}  // namespace
