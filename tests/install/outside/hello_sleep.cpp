#include <bide/executor/executor.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

bide::Task<> hello() {
  co_await bide::Sleep(5ms);
  const auto elapsed = bide::now().time_since_epoch();
  std::printf("hello after %lld ns\n", static_cast<long long>(elapsed.count()));
}

int main() {
  bide::ExecutorOptions options;
  options.time = bide::TimeMode::virtual_time;
  bide::Executor executor(options);
  executor.submit(hello());
  executor.run();
}
