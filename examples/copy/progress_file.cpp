#include "progress_file.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <span>
#include <system_error>

#include <bide/executor/io/file.hpp>
#include <bide/executor/io/file_system.hpp>

namespace bide_copy {

using namespace bide;

Task<std::uint64_t> ProgressFile::load(SourceVersion version) const {
  std::array<char, 128> text{};
  try {
    File file = co_await File::open(path_, OpenMode::read);
    const std::span<char> room(text.data(), text.size() - 1);
    co_await file.read_all_at(0, std::as_writable_bytes(room));
    co_await file.close();
  } catch (const std::system_error&) {  // none, or none that can be read: begin anew
    co_return 0;
  }
  SourceVersion recorded;
  std::uint64_t done = 0;
  char newline = 0;
  const int found = std::sscanf(text.data(), "bide-copy 1 %" SCNu64 " %" SCNu64 " %" SCNu64 "%c",
                                &recorded.size, &recorded.modified_nanoseconds, &done, &newline);
  const bool whole = found == 4 && newline == '\n';
  if (!whole || recorded != version || done > version.size) co_return 0;
  co_return done;
}

Task<> ProgressFile::save(SourceVersion version, std::uint64_t done) const {
  std::array<char, 128> text{};
  const int size =
      std::snprintf(text.data(), text.size(), "bide-copy 1 %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                    version.size, version.modified_nanoseconds, done);
  const std::string fresh = path_ + ".new";
  File file = co_await File::open(fresh, OpenMode::write | OpenMode::create | OpenMode::truncate);
  co_await file.write_all_at(0, std::as_bytes(std::span(text.data(), static_cast<std::size_t>(size))));
  co_await file.sync_data();
  co_await file.close();
  co_await rename_file(fresh, path_);
}

Task<> ProgressFile::remove() const {
  try {
    co_await remove_file(path_);
  } catch (const std::system_error&) {  // there was none
  }
}

}  // namespace bide_copy
