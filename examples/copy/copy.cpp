#include "copy.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/file.hpp>
#include <bide/executor/io/file_system.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/sleep.hpp>

#include "copy_range.hpp"
#include "progress_file.hpp"

namespace bide_copy {

using namespace bide;

namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

struct stat status_of(const File& file) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail(errno, "stat " + file.path());
  return status;
}

SourceVersion version_of(const struct stat& status) {
  return {.size = static_cast<std::uint64_t>(status.st_size),
          .modified_nanoseconds = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                                  static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

std::string name_in(const std::string& target, const std::string& source) {
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return target;
  const std::size_t slash = source.rfind('/');
  return target + "/" + (slash == std::string::npos ? source : source.substr(slash + 1));
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// What the kernel copies in one call: long enough that the call costs nothing, short enough for progress and a cancel.
constexpr std::uint64_t range_bytes = std::uint64_t{8} * 1024 * 1024;
/// One writes, one reads from the disk, one saves progress; more would wait for each other.
constexpr std::size_t most_ranges = 4;

constexpr int lock_attempts = 100;
constexpr Duration lock_pause = std::chrono::milliseconds(20);

/// Memory for one block, aligned to pages.
class Block {
 public:
  explicit Block(std::size_t bytes)
      : bytes_(bytes),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096))) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  std::span<std::byte> first(std::size_t count) { return {memory_.get(), std::min(count, bytes_)}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
};

/// One copy under way: some threads take piece after piece.
class Copy {
 public:
  Copy(std::string source, std::string target, CopyOptions options)
      : source_path_(std::move(source)),
        target_path_(name_in(target, source_path_)),
        options_(std::move(options)),
        progress_(target_path_ + ".bide-progress") {}

  Task<Copied> run() {
    co_await open_both();
    const std::uint64_t there = co_await part_.size();
    const bool has_version = version_.size > 0;  // what says that it is empty may have other bytes each time
    if (options_.resume == CopyOptions::Resume::yes && has_version) {
      const std::uint64_t recorded = co_await progress_.load(version_);
      if (recorded <= there) done_ = recorded;
    }
    if (done_ == 0) {
      co_await progress_.remove();  // before the bytes go that it vouches for
      // ext4 writes a file that was cut to nothing back to the disk when it is closed: not one that is new.
      if (there > 0) co_await part_.truncate(0);
    }
    const std::uint64_t resumed = next_ = saved_ = done_;
    const auto copy_all = [](TaskGroup& group, Copy& copy) -> Task<> {
      if (copy.version_.size == 0) {
        co_await copy.copy_what_has_no_size();
        co_return;
      }
      if (copy.options_.way == CopyOptions::Way::kernel_first) co_await copy.try_kernel();
      const std::uint64_t pieces =
          (copy.version_.size - copy.next_ + copy.piece_bytes() - 1) / copy.piece_bytes();
      const std::size_t most = std::min(copy.options_.depth, copy.in_kernel_ ? most_ranges : SIZE_MAX);
      for (std::uint64_t thread = 0; thread < std::min<std::uint64_t>(most, pieces); ++thread)
        group.submit(copy.copy_pieces());
    };
    bool cancelled = false;
    try {
      co_await with_task_group(copy_all, std::ref(*this));
    } catch (const Cancelled&) {
      cancelled = true;
    }
    if (cancelled) {
      co_await shielded(save_progress());
      throw Cancelled();
    }
    co_await finish();
    co_return Copied{.bytes = done_, .resumed = resumed};
  }

 private:
  Task<> open_both() {
    struct stat named {};
    if (::stat(source_path_.c_str(), &named) != 0)
      throw std::invalid_argument(source_path_ + ": " + std::generic_category().message(errno));
    if (!S_ISREG(named.st_mode))  // to open a FIFO waits for a writer
      throw std::invalid_argument(source_path_ + " is no regular file");
    source_ = co_await File::open(source_path_, OpenMode::read);
    const struct stat status = status_of(source_);
    if (!S_ISREG(status.st_mode)) throw std::invalid_argument(source_path_ + " is no regular file");
    struct stat old {};
    if (::stat(target_path_.c_str(), &old) == 0) {
      if (old.st_dev == status.st_dev && old.st_ino == status.st_ino)
        throw std::invalid_argument(source_path_ + " and " + target_path_ + " are the same file");
      if (!S_ISREG(old.st_mode)) throw std::invalid_argument(target_path_ + " is no regular file");
    }
    version_ = version_of(status);
    co_await open_part(status.st_mode & 0777);
  }

  // Ours to write until it is whole, also where the source is not: a copy that goes on opens it again.
  Task<> open_part(mode_t permissions) {
    permissions_ = permissions;
    part_ = co_await File::open(part_path(), OpenMode::write | OpenMode::create, 0600);
    // What a killed copy had in flight holds its lock a little longer than the process lives.
    for (int attempts = 0; ::flock(part_.number(), LOCK_EX | LOCK_NB) != 0; ++attempts) {
      if (attempts == lock_attempts)
        throw std::invalid_argument("another copy to " + target_path_ + " is under way");
      co_await Sleep(lock_pause);
    }
    struct stat there {};
    const bool still_there = ::stat(part_path().c_str(), &there) == 0;
    if (!still_there ||
        there.st_ino != status_of(part_).st_ino)  // it became the target before we had the lock
      throw std::invalid_argument("another copy to " + target_path_ + " has just ended");
  }

  std::uint64_t piece_bytes() const {
    return in_kernel_ ? std::max<std::uint64_t>(range_bytes, options_.block_bytes) : options_.block_bytes;
  }

  // The first block tells whether it can.
  Task<> try_kernel() {
    const std::uint64_t wanted = std::min<std::uint64_t>(options_.block_bytes, version_.size - next_);
    const std::uint64_t came = co_await copy_range(source_, part_, next_, wanted);
    in_kernel_ = came > 0;
    done_ = next_ = next_ + came;
  }

  Task<> copy_pieces() {
    std::optional<Block> block;
    while (next_ < version_.size) {
      const std::uint64_t begin = next_;
      const std::uint64_t end = next_ = std::min(begin + piece_bytes(), version_.size);
      for (std::uint64_t at = begin; at < end;) {
        std::uint64_t came = 0;
        if (in_kernel_) came = co_await copy_range(source_, part_, at, end - at);
        if (came == 0) {
          in_kernel_ = false;
          if (!block) block.emplace(options_.block_bytes);
          came = co_await copy_block(at, block->first(end - at));
        }
        at += came;
      }
      copied(begin, end);
      if (options_.progress) options_.progress(done_, version_.size);
      if (done_ - saved_ >= checkpoint_bytes && !saving_) co_await save_progress();
    }
  }

  Task<std::size_t> copy_block(std::uint64_t offset, std::span<std::byte> bytes) {
    const std::size_t came = co_await source_.read_all_at(offset, bytes);
    if (came < bytes.size()) throw std::runtime_error(source_path_ + " became shorter while it was copied");
    co_return co_await part_.write_all_at(offset, bytes);
  }

  // Files of /proc and /sys say that they are empty, and are not: the end shows where nothing more comes.
  Task<> copy_what_has_no_size() {
    Block block(options_.block_bytes);
    for (;;) {
      const std::span<std::byte> bytes = block.first(options_.block_bytes);
      const std::size_t came = co_await source_.read_at(done_, bytes);
      if (came == 0) co_return;
      const std::size_t written = co_await part_.write_all_at(done_, bytes.first(came));
      done_ += written;
    }
  }

  // Pieces end in any order; what counts is how far there is no gap.
  void copied(std::uint64_t begin, std::uint64_t end) {
    ahead_.emplace(begin, end);
    while (!ahead_.empty() && ahead_.begin()->first == done_) {
      done_ = ahead_.begin()->second;
      ahead_.erase(ahead_.begin());
    }
  }

  Task<> save_progress() {
    if (options_.sync == CopyOptions::Sync::no) co_return;
    saving_ = true;
    const std::uint64_t done = done_;
    co_await part_.sync_data();
    co_await progress_.save(version_, done);
    saved_ = done;
    saving_ = false;
  }

  Task<> finish() {
    if (version_of(status_of(source_)) != version_)
      throw std::runtime_error(source_path_ + " was changed while it was copied");
    if (::fchmod(part_.number(), permissions_) != 0) fail(errno, "chmod " + part_.path());
    const bool syncs = options_.sync == CopyOptions::Sync::yes;
    if (syncs) co_await part_.sync();
    co_await rename_file(part_path(), target_path_);
    if (syncs) {
      File directory = co_await File::open(directory_of(target_path_), OpenMode::read);
      co_await directory.sync();
      co_await directory.close();
    }
    co_await part_.close();
    co_await source_.close();
    co_await progress_.remove();
  }

  std::string part_path() const { return target_path_ + ".bide-part"; }

  std::string source_path_;
  std::string target_path_;
  CopyOptions options_;
  ProgressFile progress_;
  File source_;
  File part_;
  SourceVersion version_;
  mode_t permissions_ = 0;
  std::uint64_t next_ = 0;   // the first byte that no thread has taken
  std::uint64_t done_ = 0;   // all before this is written
  std::uint64_t saved_ = 0;  // and on record
  bool saving_ = false;
  bool in_kernel_ = false;                        // the kernel copies by itself
  std::map<std::uint64_t, std::uint64_t> ahead_;  // begin and end of pieces behind a gap
};

}  // namespace

Task<Copied> copy_file(std::string source, std::string target, CopyOptions options) {
  Copy copy(std::move(source), std::move(target), std::move(options));
  co_return co_await copy.run();
}

}  // namespace bide_copy
