#pragma once

#include <compare>
#include <cstdint>
#include <exception>
#include <optional>
#include <source_location>
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
  Priority rank = Priority::normal;  // the class it runs at: higher than its own where it inherits one
  bool cancelled = false;            // as a whole, or the part that it is in
  std::string state;                 // "is ready", "sleeps until 5 s", "waits for thread 7 to end"
  std::optional<Instant> since;      // of a sleep or wait: when it began, as the loop saw the time
  std::source_location submitted_at;
  std::source_location waits_at;             // the line of the sleep or wait; of the submit when it is ready
  std::vector<std::source_location> awaits;  // lines of the awaits between root and leaf, innermost first
  std::optional<std::source_location> taken_at;  // where the mutex that it waits for was locked
  std::vector<std::uint64_t> waits_for;      // ids of the threads that are known to be able to end the wait
  std::string remedy;                        // what could end it, by whoever is left: "set it"
  std::optional<std::uint64_t> group_owner;  // id of the thread whose group it belongs to
};

/// The thread as it is now.
ThreadReport describe(const GreenThread&);

/// One line: `thread 3 "reader" (low, runs as high) waits for mutex "bus" held by thread 7 (locked at b.cpp:5) at
/// a.cpp:12 since 2 s, awaited at a.cpp:30; submitted at a.cpp:40`. Of many awaits it has the innermost.
std::string to_string(const ThreadReport&);

/// `a.cpp:12`: how every report names a line of the program.
std::string line_of(const std::source_location&);

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

/// How late timers fired, in real time. Never early.
struct LatenessReport {
  std::uint64_t count = 0;
  Duration p50{};
  Duration p99{};
  Duration longest{};
};

/// How a run went. The counts are since the executor was made, so they go on over several runs.
struct RunReport {
  std::uint64_t resumes = 0;  // how often a thread was given the CPU
  std::uint64_t ticks = 0;    // how often virtual time was moved
  Instant now{};
  std::vector<ThreadReport> unfinished;    // threads still alive, in submit order
  std::vector<std::exception_ptr> errors;  // of detached threads, in the order in which they were thrown
  std::optional<ScheduleDigest> digest;    // with ExecutorOptions::digest
  LatenessReport lateness;                 // all zero in virtual time
};

}  // namespace bide
