#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <bide/executor/task.hpp>

namespace bide_copy {

struct CopyOptions {
  std::size_t depth = 8;  // blocks in flight
  std::size_t block_bytes = 256 * 1024;
  /// Whether the kernel copies by itself where it can, a few ranges at a time: fastest from what is in memory. By blocks
  /// it is slower there, and faster from a disk that likes many reads at once.
  enum class Way : std::uint8_t { kernel_first, blocks } way = Way::kernel_first;
  enum class Sync : std::uint8_t { yes, no } sync = Sync::yes;
  enum class Resume : std::uint8_t { yes, no } resume = Resume::yes;
  /// Told now and then: bytes that are copied, of how many.
  std::function<void(std::uint64_t done, std::uint64_t size)> progress;
};

struct Copied {
  std::uint64_t bytes = 0;    // of the file
  std::uint64_t resumed = 0;  // of those, how many an earlier run had copied
};

/// Copies a file, so that the target is the old one, or none, until it is the new one, whole and on the disk.
///
/// The bytes go to TARGET.bide-part, and every `checkpoint_bytes` TARGET.bide-progress says how many are safely there.
/// A copy that was killed goes on from that point, if the source is the same file in size and time of change; both
/// files go when the copy is done.
///
/// Throws: std::invalid_argument: what can't be copied, or not to there; std::system_error, std::runtime_error: what went
///         wrong with which file. The part stays for the next try.
bide::Task<Copied> copy_file(std::string source, std::string target, CopyOptions options);

/// How many bytes may have to be copied again after a kill.
constexpr std::uint64_t checkpoint_bytes = std::uint64_t{64} * 1024 * 1024;

}  // namespace bide_copy
