#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

namespace bide::test {

/// What happened, in order: threads append to it, and the test compares it with one literal list.
using Timeline = std::vector<std::string>;

/// The largest tests resume a few million times at one instant.
inline constexpr ExecutorOptions virtual_time{.time = TimeMode::virtual_time, .livelock_after = 10'000'000};

/// Milliseconds since the start of a run in virtual time.
inline std::int64_t ms(Instant instant) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(instant.time_since_epoch()).count();
}

/// "word@5": with the time of the current executor.
inline std::string at_now(const std::string& word) { return word + "@" + std::to_string(ms(now())); }

/// Counts its live objects, to see that each is destroyed once.
class Counted {
 public:
  explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive_; }

 private:
  int* alive_;
};

/// Calls a function when it goes out of scope: a destructor that does something.
template <class F>
class AtExit {
 public:
  explicit AtExit(F function) : function_(std::move(function)) {}
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
  ~AtExit() { function_(); }

 private:
  F function_;
};

/// The result of one task, run alone in virtual time.
template <class T>
T result_of(Task<T> task) {
  Executor executor(virtual_time);
  Handle<T> handle = executor.submit(std::move(task));
  executor.run();
  return handle.take();
}

}  // namespace bide::test
