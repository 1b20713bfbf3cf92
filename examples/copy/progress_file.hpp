#pragma once

#include <cstdint>
#include <string>

#include <bide/executor/task.hpp>

namespace bide_copy {

/// Which file a copy is of: when either changes it is another one.
struct SourceVersion {
  std::uint64_t size = 0;
  std::uint64_t modified_nanoseconds = 0;
  friend bool operator==(const SourceVersion&, const SourceVersion&) = default;
};

/// The record of how far a copy has come, replaced as a whole.
class ProgressFile {
 public:
  explicit ProgressFile(std::string path) : path_(std::move(path)) {}

  /// Returns: how many bytes of this version are safely copied; 0 when there is no record, or of another version.
  bide::Task<std::uint64_t> load(SourceVersion version) const;
  bide::Task<> save(SourceVersion version, std::uint64_t done) const;
  bide::Task<> remove() const;

 private:
  std::string path_;
};

}  // namespace bide_copy
