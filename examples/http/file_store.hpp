#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <bide/executor/io/file.hpp>
#include <bide/executor/task.hpp>
#include <bide/timers/instant.hpp>

namespace bide_http {

/// A file below the root, as a response needs it: what it is, and its bytes where it is small.
struct StoredFile {
  std::uint64_t size = 0;
  std::int64_t modified_seconds = 0;  // since 1970, UTC
  std::string etag;                   // with its quotes
  std::string_view media_type;
  bool in_memory = false;
  std::string bytes;  // if in_memory
};

/// The files below one directory. Small ones are kept in memory for a second before they are looked at again; what is
/// kept is bounded. Links are followed, also out of the root, as by other servers.
class FileStore {
 public:
  static constexpr std::size_t small_bytes = 64 * 1024;
  static constexpr std::size_t most_kept_bytes = 64 * 1024 * 1024;
  static constexpr std::size_t most_kept_files = 10'000;
  static constexpr bide::Duration fresh_for = std::chrono::seconds(1);

  /// Throws: std::invalid_argument, std::system_error: it is no directory, or can't be seen.
  explicit FileStore(std::string root);

  enum class Found { file, directory, nothing, forbidden };
  struct Answer {
    Answer() = default;
    explicit Answer(Found what, std::shared_ptr<const StoredFile> with = nullptr)
        : found(what), file(std::move(with)) {}
    Found found = Found::nothing;
    std::shared_ptr<const StoredFile> file;  // with Found::file
  };
  /// `path`: as target_path gives it; with a slash at its end, or empty, the directory's index.html.
  /// Throws: std::system_error, where the disk fails.
  bide::Task<Answer> find(std::string path);

  /// To read a file that is not in memory. It may be another than `find` saw: `describe` tells what it is.
  bide::Task<bide::File> open(const std::string& path) const;
  /// Throws: std::system_error, it is no regular file.
  static std::shared_ptr<const StoredFile> describe(const bide::File& file);

 private:
  struct Kept {
    bide::Instant looked_at;
    std::shared_ptr<const StoredFile> file;
  };
  void keep(const std::string& path, std::shared_ptr<const StoredFile> file);

  std::string root_;
  std::unordered_map<std::string, Kept> kept_;  // never iterated
  std::size_t kept_bytes_ = 0;
};

}  // namespace bide_http
