#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/operation.hpp>

namespace bide {

// What is done to files by their paths. Each `co_await` suspends always, and is a cancellation point: what had begun is
// waited for, and delivered if it succeeded. Errors: std::system_error that names call and path.

enum class FileKind : std::uint8_t { regular, directory, symbolic_link, other };

/// What is known of a file.
struct FileStatus {
  FileKind kind = FileKind::other;
  std::uint64_t size = 0;  // bytes
  std::uint32_t permissions = 0;
  std::chrono::sys_time<std::chrono::nanoseconds> modified{};
  std::uint64_t device = 0;  // with inode: which file it is
  std::uint64_t inode = 0;
};

struct DirectoryEntry {
  std::string name;
  FileKind kind;
};

class PathCall;
class StatusCall;
class ListCall;

/// `co_await rename_file(from, to)`: replaces what `to` named, in one step.
[[nodiscard]] PathCall rename_file(std::string_view from, std::string_view to,
                                   std::source_location where = std::source_location::current());
/// `co_await remove_file(path)`: unlinks it; who has it open goes on with it.
[[nodiscard]] PathCall remove_file(std::string_view path,
                                   std::source_location where = std::source_location::current());
/// `co_await remove_directory(path)`: an empty one.
[[nodiscard]] PathCall remove_directory(std::string_view path,
                                        std::source_location where = std::source_location::current());
/// `co_await make_directory(path)`. `permissions`: less the process's umask.
[[nodiscard]] PathCall make_directory(std::string_view path, std::uint32_t permissions = 0777,
                                      std::source_location where = std::source_location::current());
/// `co_await file_status(path)`: a FileStatus. Follows symbolic links.
[[nodiscard]] StatusCall file_status(std::string_view path,
                                     std::source_location where = std::source_location::current());
/// `co_await list_directory(path)`: a vector of DirectoryEntry, without "." and "..".
/// Order: by name, by bytes: the same on every machine, whatever the file system.
[[nodiscard]] ListCall list_directory(std::string_view path,
                                      std::source_location where = std::source_location::current());

/// The wait for a call on a path.
class [[nodiscard]] PathWait : public OperationWait {
 public:
  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin_call(frame.promise());
  }
  std::string describe() const override;

 protected:
  PathWait(Kind what, const char* verb, std::string_view path, std::source_location where)
      : OperationWait(what, where), path_(path), verb_(verb) {}
  ~PathWait() = default;

  /// Returns: the result, not negative. Throws: Cancelled; std::system_error.
  std::int64_t end_or_throw() const;

  std::string path_;
  std::string second_path_;

 private:
  void begin_call(Frame& frame);

  const char* verb_;
};

class [[nodiscard]] PathCall final : public PathWait {
 public:
  struct Call {
    Kind kind;
    const char* verb;
    std::uint32_t flags = 0;
    std::uint32_t permissions = 0;
  };
  PathCall(const Call& call, std::string_view path, std::string_view second_path, std::source_location where);
  void await_resume() const { static_cast<void>(end_or_throw()); }

 private:
  std::int64_t call_blocking() noexcept override;
};

class [[nodiscard]] StatusCall final : public PathWait {
 public:
  StatusCall(std::string_view path, std::source_location where)
      : PathWait(Kind::call, "status of", path, where) {}
  FileStatus await_resume() const {
    static_cast<void>(end_or_throw());
    return status_;
  }

 private:
  std::int64_t call_blocking() noexcept override;

  FileStatus status_;
};

class [[nodiscard]] ListCall final : public PathWait {
 public:
  ListCall(std::string_view path, std::source_location where) : PathWait(Kind::call, "list", path, where) {}
  std::vector<DirectoryEntry> await_resume() {
    static_cast<void>(end_or_throw());
    return std::move(entries_);
  }

 private:
  std::int64_t call_blocking() noexcept override;
  std::int64_t list();

  std::vector<DirectoryEntry> entries_;
};

}  // namespace bide
