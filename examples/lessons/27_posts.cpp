// Lesson 27: posts from another OS thread
//
// What you learn: an executor and all that belongs to it is used by one OS thread. The one way in from others
// is `post`: the function is run by the executor's loop, between turns, where it may touch everything. Each
// Poster is a source of its own, and what one source posts runs in the order of its calls.
//
// Look at: the numbers of each sensor arrive in order. How the two mix is up to the operating system: this is
// real time, and the only thing here that differs from run to run, so the program does not print it.
//
// Try: print each reading as it comes, and run the program a few times. Then let the executor end before the
// sensors do: `post` returns false, and nothing breaks.

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/channel.hpp>

#include <cstdio>
#include <string>
#include <thread>

using namespace bide;

namespace {

struct Reading {
  std::size_t sensor;
  int value;
};

// Runs on an OS thread of its own.
void measure(std::size_t sensor, const Poster& poster, Channel<Reading>& readings) {
  for (int value = 1; value <= 5; ++value) {
    poster.post([=, &readings] { static_cast<void>(readings.try_send({sensor, value})); });
  }
}

Task<> collect(Channel<Reading>& readings) {
  std::string values[2];
  for (int received = 0; received < 10; ++received) {
    const auto reading = co_await readings.receive();
    values[reading->sensor] += " " + std::to_string(reading->value);
  }
  for (const std::string& of_one : values) std::printf("a sensor sent%s\n", of_one.c_str());
}

}  // namespace

int main() {
  Channel<Reading> readings(16, "readings");
  Executor executor({.time = TimeMode::real_time, .deadlock_after = Duration::max()});
  executor.submit(collect(readings));
  std::thread first(measure, 0, executor.poster(), std::ref(readings));
  std::thread second(measure, 1, executor.poster(), std::ref(readings));
  executor.run();  // waits for posts as long as the collector does
  first.join();
  second.join();
}
