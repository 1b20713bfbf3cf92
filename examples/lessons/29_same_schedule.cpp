// Lesson 29: the same schedule
//
// What you learn: same pushes, same order, same schedule: on every machine, with every compiler. With the
// option `digest` a run gives 128 bits over all its events (time, class, sequence, thread, kind). Equal
// digests are equal schedules, so a test can hold a whole run fixed in one number, and a log can prove that a
// run was repeated.
//
// Look at: two runs of one program agree to the last bit. Exchanging two submits, or a nanosecond more in one
// sleep, makes another schedule, although nothing that is printed here would show it.
//
// Try: print the digest, and compile with another compiler or at another optimisation level.

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace bide;
using namespace std::chrono_literals;

namespace {

Task<> work(Duration pause) {
  for (int round = 0; round < 100; ++round) {
    co_await Sleep(pause);
    co_await Yield();
  }
}

ScheduleDigest digest_of(Duration first, Duration second) {
  Executor executor({.time = TimeMode::virtual_time, .digest = ExecutorOptions::Digest::on});
  executor.submit(work(first));
  executor.submit(work(second));
  return executor.run().digest.value();
}

void compare(const char* what, const ScheduleDigest& left, const ScheduleDigest& right) {
  std::printf("%s: %s\n", what, left == right ? "the same schedule" : "another schedule");
}

}  // namespace

int main() {
  const ScheduleDigest digest = digest_of(2ms, 3ms);
  compare("again", digest, digest_of(2ms, 3ms));
  compare("submits exchanged", digest, digest_of(3ms, 2ms));
  compare("a nanosecond more", digest, digest_of(2ms, 3ms + 1ns));
}
