#include <bide/executor/io/file_system.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include <bide/executor/io/choose_driver.hpp>
#include <bide/executor/io/io_error.hpp>

namespace bide {

namespace {

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::regular;
  if (S_ISDIR(mode)) return FileKind::directory;
  return S_ISLNK(mode) ? FileKind::symbolic_link : FileKind::other;
}

// Some file systems leave the kind of an entry open.
FileKind kind_of(DIR& folder, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return FileKind::regular;
    case DT_DIR:
      return FileKind::directory;
    case DT_LNK:
      return FileKind::symbolic_link;
    case DT_UNKNOWN:
      break;
    default:
      return FileKind::other;
  }
  struct stat status;
  if (::fstatat(::dirfd(&folder), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return FileKind::other;
  return kind_of(status.st_mode);
}

}  // namespace

PathCall rename_file(std::string_view from, std::string_view to, std::source_location where) {
  return PathCall({Operation::Kind::rename, "rename"}, from, to, where);
}
PathCall remove_file(std::string_view path, std::source_location where) {
  return PathCall({Operation::Kind::unlink, "remove"}, path, {}, where);
}
PathCall remove_directory(std::string_view path, std::source_location where) {
  return PathCall({Operation::Kind::unlink, "remove directory", AT_REMOVEDIR}, path, {}, where);
}
PathCall make_directory(std::string_view path, std::uint32_t permissions, std::source_location where) {
  return PathCall({Operation::Kind::call, "make directory", 0, permissions}, path, {}, where);
}
StatusCall file_status(std::string_view path, std::source_location where) { return StatusCall(path, where); }
ListCall list_directory(std::string_view path, std::source_location where) { return ListCall(path, where); }

bool PathWait::await_ready() {
  if (enter()) return true;
  if ((path_ + second_path_).find('\0') == std::string::npos) return false;
  result = -EINVAL;
  return true;
}

void PathWait::begin_call(Frame& frame) {
  Executor& executor = *thread()->executor;
  if (kind == Kind::call) return begin(frame, executor.blocking_pool());
  memory = path_.data();
  more_memory = second_path_.data();
  begin(frame, driver_of(executor));
}

std::int64_t PathWait::end_or_throw() const {
  const std::int64_t ended = end();
  if (ended < 0) throw_io_error(ended, describe());
  return ended;
}

std::string PathWait::describe() const {
  std::string text = std::string(verb_) + " " + escaped(path_);
  if (kind == Kind::rename) text += " to " + escaped(second_path_);
  return text;
}

PathCall::PathCall(const Call& call, std::string_view path, std::string_view second_path,
                   std::source_location where)
    : PathWait(call.kind, call.verb, path, where) {
  second_path_ = second_path;
  flags = call.flags;
  permissions = call.permissions;
}

std::int64_t PathCall::call_blocking() noexcept {
  return ::mkdir(path_.c_str(), permissions) == 0 ? 0 : -errno;
}

std::int64_t StatusCall::call_blocking() noexcept {
  struct stat status;
  if (::stat(path_.c_str(), &status) != 0) return -errno;
  status_ = {
      .kind = kind_of(status.st_mode),
      .size = static_cast<std::uint64_t>(status.st_size),
      .permissions = status.st_mode & 07777U,
      .modified = std::chrono::sys_time<std::chrono::nanoseconds>(
          std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec)),
      .device = status.st_dev,
      .inode = status.st_ino};
  return 0;
}

std::int64_t ListCall::call_blocking() noexcept {
  try {
    return list();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

std::int64_t ListCall::list() {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, Close> folder(::opendir(path_.c_str()));
  if (folder == nullptr) return -errno;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(folder.get());  // one stream, one OS thread
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") entries_.push_back({std::string(name), kind_of(*folder, *entry)});
  }
  if (errno != 0) return -errno;
  std::sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return 0;
}

}  // namespace bide
