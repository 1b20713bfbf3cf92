#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cctz {
class time_zone;
}

namespace bide {

/// A time zone of the IANA database, or UTC. Small, copied freely; what was read stays until the process ends, so a zone
/// whose rules change on the disk meanwhile keeps its old ones.
///
/// Units: whole seconds. `sys_seconds` count from 1970 in UTC, `local_seconds` are what a clock on the wall shows.
class Zone {
 public:
  /// UTC, which needs no database.
  Zone() = default;

  /// "Europe/Berlin", "UTC". The first call for a name reads a small file of the database (Debian's `tzdata`; another
  /// folder in the environment's TZDIR): blocking. Any OS thread may call it.
  /// Throws: std::invalid_argument for a name that the database lacks, or where there is no database.
  static Zone named(std::string_view name);

  std::string name() const;
  std::chrono::local_seconds to_local(std::chrono::sys_seconds at) const;

  /// What a local time means: one instant; two where clocks are set back, the later one `again`; none where they are
  /// set forward, and `first` is the instant at which they are.
  struct Meaning {
    enum class Kind : std::uint8_t { once, twice, never };
    Kind kind = Kind::once;
    std::chrono::sys_seconds first;
    std::chrono::sys_seconds again;
  };
  Meaning meaning(std::chrono::local_seconds local) const;

  /// The first instant after `at` from which local time may run differently; none if there is none.
  std::optional<std::chrono::sys_seconds> next_change(std::chrono::sys_seconds at) const;

  bool operator==(const Zone&) const = default;

 private:
  explicit Zone(const cctz::time_zone* zone) : zone_(zone) {}

  const cctz::time_zone* zone_ = nullptr;  // null: UTC. Else one that is never destroyed
};

}  // namespace bide
