#pragma once

// What the reads of row H read, by whatever library.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace bide::bench {

constexpr std::size_t block_bytes = 4096;
constexpr std::uint64_t blocks = 4096;
constexpr std::int64_t reads_in_all = 16'000;

/// 16 MiB that are in the page cache.
class CachedFile {
 public:
  CachedFile() {
    const int descriptor = ::mkstemp(path_.data());
    const std::vector<char> bytes(block_bytes * blocks, 'x');
    if (descriptor < 0 ||
        ::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      std::abort();
    ::close(descriptor);
  }
  ~CachedFile() { ::unlink(path_.c_str()); }
  CachedFile(const CachedFile&) = delete;
  CachedFile& operator=(const CachedFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/bide-file-bench-XXXXXX";
};

/// All over the file, the same each time.
inline std::uint64_t offset_of(std::int64_t read) {
  return static_cast<std::uint64_t>(read) * 2'654'435'761U % blocks * block_bytes;
}

}  // namespace bide::bench
