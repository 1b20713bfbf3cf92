// Sleepers that are due at the same instant wake in the order in which they fell asleep.
//
// `metronome` beats every 2 seconds and `drum` every 3: at 6 both are due. One jump of the clock releases
// both, and the drum goes first, because its sleep began at 3 and the metronome's at 4. The order of
// submission, addresses and chance have no say in it, so the output is the same on every machine.

#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

namespace {

bide::Task<> beat(const char* name, bide::Duration rhythm, int beats) {
  for (int i = 0; i < beats; ++i) {
    co_await bide::Sleep(rhythm);
    std::printf("%lld s: %s\n", static_cast<long long>(bide::now().time_since_epoch() / 1s), name);
  }
}

}  // namespace

int main() {
  bide::Executor executor({.time = bide::TimeMode::virtual_time});
  executor.submit(beat("metronome", 2s, 3));
  executor.submit(beat("drum", 3s, 2));
  executor.run();
  std::printf("five beats, %llu jumps of the clock\n", static_cast<unsigned long long>(executor.ticks()));
}
