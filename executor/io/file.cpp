#include <bide/executor/io/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <limits>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/io/io_error.hpp>

namespace bide {

namespace {

constexpr std::size_t most_parts = 1024;  // the kernel's limit

// The one that stands for the file's own position becomes another that no file has: EINVAL.
constexpr std::uint64_t positioned(std::uint64_t offset) {
  return offset == Operation::current_offset ? offset - 1 : offset;
}

std::uint32_t open_flags(OpenMode mode) {
  int flags = O_CLOEXEC;
  const bool writes = contains(mode, OpenMode::write) || contains(mode, OpenMode::append);
  if (contains(mode, OpenMode::read))
    flags |= writes ? O_RDWR : O_RDONLY;
  else
    flags |= writes ? O_WRONLY : O_RDONLY;
  if (contains(mode, OpenMode::create)) flags |= O_CREAT;
  if (contains(mode, OpenMode::exclusive)) flags |= O_EXCL;
  if (contains(mode, OpenMode::truncate)) flags |= O_TRUNC;
  if (contains(mode, OpenMode::append)) flags |= O_APPEND;
  return static_cast<std::uint32_t>(flags);
}

/// The await of one vectored call.
class PartsTransfer final : public DescriptorWait {
 public:
  PartsTransfer(Descriptor& on, const Transfer& transfer, const iovec* parts, std::size_t count,
                std::source_location where)
      : DescriptorWait(transfer.kind, transfer.verb, on, transfer.name, where) {
    offset = transfer.offset;
    memory = const_cast<iovec*>(parts);  // NOLINT: the kernel only reads it
    length = static_cast<std::uint32_t>(count);
  }
  bool await_ready() { return enter_on(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin_on(frame.promise());
  }
  std::size_t await_resume() const { return static_cast<std::size_t>(end_or_throw()); }
};

/// Where a transfer of many parts is: in which part, and how much of that is done.
class Progress {
 public:
  explicit Progress(std::span<const iovec> parts) : parts_(parts) { pass_done(); }

  bool finished() const { return part_ == parts_.size(); }
  std::uint64_t done() const { return done_; }
  /// The rest of a part that was begun, which goes by itself; empty at the begin of a part.
  std::span<std::byte> rest() const {
    const iovec& part = parts_[part_];
    if (in_part_ == 0) return {};
    return {static_cast<std::byte*>(part.iov_base) + in_part_, part.iov_len - in_part_};
  }
  /// The parts of the next call, the first of which is not empty.
  std::span<const iovec> next() const {
    return parts_.subspan(part_, std::min(parts_.size() - part_, most_parts));
  }
  void advance(std::size_t bytes) {
    done_ += bytes;
    in_part_ += bytes;
    pass_done();
  }

 private:
  void pass_done() {
    while (part_ < parts_.size() && in_part_ >= parts_[part_].iov_len) in_part_ -= parts_[part_++].iov_len;
  }

  std::span<const iovec> parts_;
  std::size_t part_ = 0;
  std::size_t in_part_ = 0;
  std::uint64_t done_ = 0;
};

struct PartKinds {
  Operation::Kind some;
  Operation::Kind vector;
};

// Returns how many bytes: all, or up to where a call transfers nothing.
Task<std::size_t> transfer_parts(Descriptor& on, Transfer transfer, PartKinds kinds,
                                 std::span<const iovec> parts) {
  const std::uint64_t begin = transfer.offset;
  Progress progress(parts);
  while (!progress.finished()) {
    transfer.offset = begin + progress.done();
    const std::span<std::byte> rest = progress.rest();
    std::size_t bytes = 0;
    if (rest.empty()) {
      transfer.kind = kinds.vector;
      const std::span<const iovec> next = progress.next();
      bytes = co_await PartsTransfer(on, transfer, next.data(), next.size(), std::source_location::current());
    } else {
      transfer.kind = kinds.some;
      bytes = co_await TransferSome(on, transfer, rest, std::source_location::current());
    }
    if (bytes == 0) break;
    progress.advance(bytes);
  }
  co_return progress.done();
}

template <class Part>
std::span<const iovec> plain(std::span<const Part> parts) {
  static_assert(sizeof(Part) == sizeof(iovec));
  return {static_cast<const iovec*>(parts.data()), parts.size()};
}

std::uint64_t size_of(std::span<const iovec> parts) {
  std::uint64_t size = 0;
  for (const iovec& part : parts) size += part.iov_len;
  return size;
}

}  // namespace

ObjectName File::name() const noexcept {
  return {[](const void* object) { return escaped(static_cast<const File*>(object)->path_); }, this};
}

File::Open File::open(std::string_view path, OpenMode mode, std::uint32_t permissions,
                      std::source_location where) {
  return Open(path, mode, permissions, where);
}

File::ReadAt File::read_at(std::uint64_t offset, std::span<std::byte> bytes, std::source_location where) {
  return ReadAt(descriptor_, {Operation::Kind::read, "read", name(), positioned(offset)}, bytes, where);
}
File::WriteAt File::write_at(std::uint64_t offset, std::span<const std::byte> bytes,
                             std::source_location where) {
  return WriteAt(descriptor_, {Operation::Kind::write, "write", name(), positioned(offset)}, bytes, where);
}
File::WriteAllAt File::write_all_at(std::uint64_t offset, std::span<const std::byte> bytes,
                                    std::source_location where) {
  return WriteAllAt(descriptor_, {Operation::Kind::write, "write", name(), positioned(offset)}, bytes, where);
}

Task<std::size_t> File::read_all_at(std::uint64_t offset, std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t came = co_await read_at(offset + done, bytes.subspan(done));
    if (came == 0) break;
    done += came;
  }
  co_return done;
}

Task<std::size_t> File::read_parts_at(std::uint64_t offset, std::span<const ReadPart> parts) {
  return transfer_parts(descriptor_, {Operation::Kind::read, "read", name(), positioned(offset)},
                        {Operation::Kind::read, Operation::Kind::read_vector}, plain(parts));
}

Task<std::size_t> File::write_parts_at(std::uint64_t offset, std::span<const WritePart> parts) {
  const std::uint64_t all = size_of(plain(parts));
  const Transfer transfer{Operation::Kind::write, "write", name(), positioned(offset)};
  const PartKinds kinds{Operation::Kind::write, Operation::Kind::write_vector};
  const std::size_t written = co_await transfer_parts(descriptor_, transfer, kinds, plain(parts));
  if (written < all) throw_io_error(EIO, "write " + name().text());
  co_return written;
}

File::OnFile File::sync(std::source_location where) {
  return OnFile(*this, Operation::Kind::sync, OnFile::Does::driver_operation, "sync", where);
}
File::OnFile File::sync_data(std::source_location where) {
  return OnFile(*this, Operation::Kind::sync_data, OnFile::Does::driver_operation, "sync", where);
}
File::OnFile File::allocate(std::uint64_t offset, std::uint64_t size, std::source_location where) {
  return OnFile(*this, Operation::Kind::allocate, OnFile::Does::driver_operation, "allocate", where, offset,
                size);
}
File::OnFile File::truncate(std::uint64_t size, std::source_location where) {
  return OnFile(*this, Operation::Kind::call, OnFile::Does::truncate, "truncate", where, 0, size);
}
File::OnFile File::size(std::source_location where) {
  return OnFile(*this, Operation::Kind::call, OnFile::Does::tell_size, "size of", where);
}

CloseDescriptor File::close(std::source_location where) {
  return CloseDescriptor(descriptor_, name(), where);
}

std::int64_t File::OnFile::call_blocking() noexcept {
  if (does_ == Does::truncate) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
    if (Operation::size > most) return -EFBIG;
    return ::ftruncate(descriptor, static_cast<off_t>(Operation::size)) == 0 ? 0 : -errno;
  }
  struct stat status;
  return ::fstat(descriptor, &status) == 0 ? status.st_size : -errno;
}

File::Open::Open(std::string_view path, OpenMode mode, std::uint32_t allowed, std::source_location where)
    : OperationWait(Kind::open, where), path_(path) {
  flags = open_flags(mode);
  permissions = allowed;
}

bool File::Open::await_ready() {
  if (enter()) return true;
  if (path_.find('\0') == std::string::npos) return false;
  result = -EINVAL;
  return true;
}

void File::Open::begin_open(Frame& frame) {
  Driver& driver = driver_of(*thread()->executor);
  memory = path_.data();
  begin(frame, driver);
}

// From here on it is closed if the thread is destroyed before it runs.
void File::Open::completed() noexcept {
  if (result >= 0) opened_ = Descriptor(static_cast<int>(result));
  OperationWait::completed();
}

File File::Open::await_resume() {
  const std::int64_t ended = end();
  if (ended < 0) throw_io_error(ended, describe());
  return File(std::move(opened_), std::move(path_));
}

std::string File::Open::describe() const { return "open " + escaped(path_); }

}  // namespace bide
