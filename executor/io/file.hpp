#pragma once

#include <sys/uio.h>
#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

#include <bide/executor/io/descriptor.hpp>
#include <bide/executor/io/transfer.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// How a file is opened: `OpenMode::write | OpenMode::create | OpenMode::truncate`.
enum class OpenMode : std::uint8_t {
  read = 1,
  write = 2,
  read_write = 3,
  create = 4,     // if it is missing, with the permissions
  exclusive = 8,  // with create: it must be missing
  truncate = 16,  // to nothing
  append = 32,    // every write goes to the end, whatever its offset
};
constexpr OpenMode operator|(OpenMode a, OpenMode b) {
  return static_cast<OpenMode>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool contains(OpenMode mode, OpenMode part) {
  return (static_cast<std::uint8_t>(mode) & static_cast<std::uint8_t>(part)) ==
         static_cast<std::uint8_t>(part);
}

/// Parts of memory for one vectored read or write, in the kernel's form.
struct ReadPart : iovec {
  ReadPart(std::span<std::byte> bytes) : iovec{bytes.data(), bytes.size()} {}  // NOLINT: a span is a part
};
struct WritePart : iovec {
  WritePart(std::span<const std::byte> bytes)                         // NOLINT
      : iovec{const_cast<std::byte*>(bytes.data()), bytes.size()} {}  // NOLINT: a write leaves it alone
};

/// An open file.
///
///     File file = co_await File::open("a.txt", OpenMode::write | OpenMode::create);
///     co_await file.write_all_at(0, bytes);
///     co_await file.close();
///
/// Reads and writes name their place, so any number may be in flight at once; those that overlap happen in any order.
///
/// Suspends: every `co_await` here, always; a read or write unless it is of nothing. Cancellation points; what succeeded
///           in the instant of a cancel is delivered. Work on the BlockingPool that has begun is waited for.
/// Errors:   std::system_error, whose text names call and path: "open /x/y: No such file or directory".
/// Destroyed, moved: see Descriptor. Await `close` where late errors of writes matter, and `sync` where the data does.
class File {
 public:
  class Open;
  using ReadAt = TransferSome;
  using WriteAt = TransferSome;
  using WriteAllAt = TransferAll;
  class OnFile;

  /// `co_await File::open(path, mode)`: a File, close-on-exec. A file opened in the instant of a cancel is delivered.
  /// `permissions`: of one that is created, less the process's umask.
  [[nodiscard]] static Open open(std::string_view path, OpenMode mode, std::uint32_t permissions = 0666,
                                 std::source_location where = std::source_location::current());

  /// Not open: every operation fails with std::errc::bad_file_descriptor.
  File() = default;
  /// Takes over an open descriptor. `name`: how errors call it.
  File(Descriptor descriptor, std::string name)
      : descriptor_(std::move(descriptor)), path_(std::move(name)) {}

  /// `co_await file.read_at(offset, span)`: some bytes. Returns: how many; 0 at or behind the end.
  [[nodiscard]] ReadAt read_at(std::uint64_t offset, std::span<std::byte> bytes,
                               std::source_location where = std::source_location::current());
  /// `co_await file.write_at(offset, span)`: some of the bytes. Returns: how many.
  [[nodiscard]] WriteAt write_at(std::uint64_t offset, std::span<const std::byte> bytes,
                                 std::source_location where = std::source_location::current());
  /// `co_await file.write_all_at(offset, span)`. Returns: the span's size. Errors: the text says how much was written.
  [[nodiscard]] WriteAllAt write_all_at(std::uint64_t offset, std::span<const std::byte> bytes,
                                        std::source_location where = std::source_location::current());
  /// `co_await file.read_all_at(offset, span)`: until the span is full or the file ends. Returns: how many bytes.
  [[nodiscard]] Task<std::size_t> read_all_at(std::uint64_t offset, std::span<std::byte> bytes);

  /// Any number of parts, empty ones included; more than 1,024 take several calls. The spans stay until the end.
  /// Returns: how many bytes; fewer than asked only at the end of the file.
  [[nodiscard]] Task<std::size_t> read_parts_at(std::uint64_t offset, std::span<const ReadPart> parts);
  /// Returns: the size of all. Errors: the text says how much was written.
  [[nodiscard]] Task<std::size_t> write_parts_at(std::uint64_t offset, std::span<const WritePart> parts);

  /// Data and metadata are on the disk; `sync_data`: the data, and of the metadata what it takes to read it.
  [[nodiscard]] OnFile sync(std::source_location where = std::source_location::current());
  [[nodiscard]] OnFile sync_data(std::source_location where = std::source_location::current());
  /// Takes the space now, and makes the file as long as that.
  [[nodiscard]] OnFile allocate(std::uint64_t offset, std::uint64_t size,
                                std::source_location where = std::source_location::current());
  /// Cuts it off, or fills it up with zeros.
  [[nodiscard]] OnFile truncate(std::uint64_t size,
                                std::source_location where = std::source_location::current());
  /// Returns: bytes.
  [[nodiscard]] OnFile size(std::source_location where = std::source_location::current());

  /// `co_await file.close()`: see CloseDescriptor.
  [[nodiscard]] CloseDescriptor close(std::source_location where = std::source_location::current());
  bool is_open() const { return descriptor_.open(); }
  const std::string& path() const { return path_; }
  /// For system calls; stays the file's.
  int number() const { return descriptor_.number(); }

 private:
  ObjectName name() const noexcept;

  Descriptor descriptor_;
  std::string path_;
};

/// The wait for a file to be opened.
class [[nodiscard]] File::Open final : public OperationWait {
 public:
  Open(std::string_view path, OpenMode mode, std::uint32_t permissions, std::source_location where);

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin_open(frame.promise());
  }
  File await_resume();
  std::string describe() const override;

 private:
  void begin_open(Frame& frame);
  void completed() noexcept override;

  std::string path_;
  Descriptor opened_;
};

/// The wait for what is done to an open file as a whole.
class [[nodiscard]] File::OnFile final : public DescriptorWait {
 public:
  enum class Does : std::uint8_t { driver_operation, truncate, tell_size };
  OnFile(File& file, Kind what, Does does, const char* verb, std::source_location where,
         std::uint64_t from = 0, std::uint64_t bytes = 0)
      : DescriptorWait(what, verb, file.descriptor_, file.name(), where), does_(does) {
    offset = from;
    Operation::size = bytes;
  }

  bool await_ready() { return enter_on(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin_on(frame.promise());
  }
  /// Of `size`: bytes. Of others 0.
  std::uint64_t await_resume() const { return static_cast<std::uint64_t>(end_or_throw()); }

 private:
  std::int64_t call_blocking() noexcept override;

  Does does_;
};

}  // namespace bide
