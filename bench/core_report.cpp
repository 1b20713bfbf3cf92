// What of the core no clock tells: run under callgrind it shows instructions; on its own the digest of each schedule,
// and the page faults and allocations of a second run after a first.
//
// Run: core_report list | run CASE COUNT | digests | steady

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "allocations.hpp"
#include "core_cases.hpp"

namespace {

using namespace bide;
using bench::CoreCase;

constexpr std::int64_t operations = 100'000;

int list() {
  for (const CoreCase& one : bench::core_cases()) std::printf("%s\n", one.name);
  return 0;
}

int run(std::string_view name, std::int64_t count) {
  for (const CoreCase& one : bench::core_cases()) {
    if (one.name != name) continue;
    Executor executor({.time = TimeMode::virtual_time});
    one.submit(executor, count);
    executor.run();
    return 0;
  }
  std::fprintf(stderr, "core_report: no case of that name\n");
  return 2;
}

int digests() {
  for (const CoreCase& one : bench::core_cases()) {
    Executor executor({.time = TimeMode::virtual_time, .digest = ExecutorOptions::Digest::on});
    one.submit(executor, operations);
    const RunReport report = executor.run();
    std::printf("%s %s\n", one.name, to_string(*report.digest).c_str());
  }
  return 0;
}

long page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

int steady() {
  std::printf("warm up\n");  // standard output's buffer, too
  for (const CoreCase& one : bench::core_cases()) {
    Executor executor({.time = TimeMode::virtual_time});
    one.submit(executor, operations);
    executor.run();
    const long faults = page_faults();
    const std::uint64_t allocations = bench::allocation_count();
    one.submit(executor, operations);
    executor.run();
    std::printf("%s %ld %llu\n", one.name, page_faults() - faults,
                static_cast<unsigned long long>(bench::allocation_count() - allocations));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "list" && argc == 2) return list();
  if (what == "run" && argc == 4) return run(argv[2], std::strtoll(argv[3], nullptr, 10));
  if (what == "digests" && argc == 2) return digests();
  if (what == "steady" && argc == 2) return steady();
  std::fprintf(stderr, "usage: core_report list | run CASE COUNT | digests | steady\n");
  return 2;
}
