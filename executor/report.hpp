#pragma once

#include <compare>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include <bide/queue/priority.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

struct GreenThread;

/// One green thread, as text can tell it: a copy, valid for ever.
struct ThreadReport {
  std::uint64_t id = 0;
  std::string name;  // empty: none was given
  Priority priority = Priority::normal;
  std::string state;  // "is ready", "sleeps until 5 s", "waits for thread 7 to end"
  std::source_location submitted_at;
  std::source_location waits_at;          // the line of the sleep or wait; of the submit when it is ready
  std::vector<std::source_location> awaits;  // lines of the awaits between root and leaf, innermost first
  std::optional<std::uint64_t> waits_for;  // id of the thread that can end the wait, if one is known
};

/// The thread as it is now.
ThreadReport describe(const GreenThread&);

/// One line: `thread 3 "reader" (high) waits for thread 7 to end at a.cpp:12; submitted at a.cpp:40`.
std::string to_string(const ThreadReport&);

/// A duration as people write it: `5 s`, `1.5 ms`, `0 s`: exact, never rounded.
std::string to_string(Duration);

/// A 128-bit chain over every event of a schedule: equal for equal schedules on every build, compiler and
/// machine, different for different ones (up to chance, 2^-128). Not a cryptographic hash.
///
/// An event is (now, class, sequence, thread id, kind). Addresses and wall time never enter.
struct ScheduleDigest {
  enum class Event : std::uint8_t { submitted = 1, resumed, woken, ended, time_moved, cancelled };

  std::uint64_t high = 0x6a09e667f3bcc908U;  // the fractional digits of the square roots of 2 and 3
  std::uint64_t low = 0xbb67ae8584caa73bU;

  void add(Instant now, Priority priority, std::uint64_t sequence, std::uint64_t thread, Event event) {
    const auto time = static_cast<std::uint64_t>(now.time_since_epoch().count());
    const auto kind = static_cast<std::uint64_t>(event) | static_cast<std::uint64_t>(priority) << 8U;
    mix(high ^ time, low ^ (thread << 16U | kind));
    mix(high ^ sequence, low ^ 0x3c6ef372fe94f82bU);
  }

  auto operator<=>(const ScheduleDigest&) const = default;

 private:
  // A 64x64->128-bit product spreads each input bit over both halves; adding the inputs back keeps a zero
  // factor from erasing the chain.
  void mix(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a | 1U) * (b | 1U);
    const std::uint64_t old_high = high;
    high = static_cast<std::uint64_t>(product) ^ (b + (old_high << 23U | old_high >> 41U));
    low = static_cast<std::uint64_t>(product >> 64U) ^ (a + (low << 37U | low >> 27U));
  }
};

/// 32 hexadecimal digits.
std::string to_string(const ScheduleDigest&);

/// How a run went. The counts are since the executor was made, so they go on over several runs.
struct RunReport {
  std::uint64_t resumes = 0;  // how often a thread was given the CPU
  std::uint64_t ticks = 0;    // how often virtual time was moved
  Instant now{};
  std::vector<ThreadReport> unfinished;     // threads still alive, in submit order
  std::vector<std::exception_ptr> errors;  // of detached threads, in the order in which they were thrown
  std::optional<ScheduleDigest> digest;    // with ExecutorOptions::digest
};

/// Thrown by `run` when no thread can ever run again. `what()` tells it all, a line a thread.
///
/// The threads stay as they are: they can be inspected, cancelled (`stop` and `run` again) or destroyed with
/// the executor.
class Deadlock : public std::runtime_error {
 public:
  Deadlock(Instant now, std::vector<ThreadReport> threads);

  /// Every live thread, in submit order.
  const std::vector<ThreadReport>& threads() const { return *threads_; }

 private:
  std::shared_ptr<const std::vector<ThreadReport>> threads_;  // copying an exception must not throw
};

}  // namespace bide
