#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;

struct Stall {
  std::uint64_t id;
  Duration taken;
  std::string line;
};

class Stalls : public Observer {
 public:
  void stalled(const GreenThread& thread, Duration taken, std::source_location) override {
    told.push_back({thread.id, taken, to_string(describe(thread))});
  }
  std::vector<Stall> told;
};

// Keeps the CPU for that long in real time.
void work_for(Duration duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}
Task<> stalls() {
  co_await Yield();
  work_for(20ms);
  co_await Sleep(1us);
}
Task<> returns() { co_return; }
Task<> stalls_at_end() {
  work_for(20ms);
  co_return;
}

bool told_of(const Stalls& stalls, std::uint64_t id) {
  for (const Stall& stall : stalls.told) {
    if (stall.id == id && stall.taken >= 20ms) return true;
  }
  return false;
}

TEST_CASE("Stall: a resume above the threshold is told with its thread and line, in both modes of time") {
  const TimeMode time = GENERATE(TimeMode::real_time, TimeMode::virtual_time);
  Stalls stalls_told;
  Executor executor({.time = time, .observer = &stalls_told, .stall_threshold = 1ms});
  executor.submit(returns());
  executor.submit(stalls(), {.name = "busy"});
  executor.submit(stalls_at_end(), {.name = "last"});
  executor.run();
  CHECK(told_of(stalls_told, 2));
  CHECK(told_of(stalls_told, 3));
  for (const Stall& stall : stalls_told.told) {
    CHECK(stall.taken > 1ms);
    if (stall.id == 2 && stall.taken >= 20ms && time == TimeMode::virtual_time) {
      CHECK_THAT(stall.line, Catch::StartsWith("thread 2 \"busy\" (normal) sleeps until 1 us at "));
    }
  }
}

TEST_CASE("Stall: nothing is told without a threshold") {
  Stalls stalls_told;
  Executor executor({.observer = &stalls_told});
  executor.submit(stalls());
  executor.run();
  CHECK(stalls_told.told.empty());
}

}  // namespace
