#include "file_store.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/io/offload.hpp>

#include "target_path.hpp"

namespace bide_http {

using namespace bide;

namespace {

struct Status {
  int error = 0;
  struct stat what {};
};

Status status_of(const std::string& path) {
  Status status;
  if (::stat(path.c_str(), &status.what) != 0) status.error = errno;
  return status;
}

std::string etag_of(const struct stat& what) {
  char text[64];
  std::snprintf(text, sizeof text, "\"%llx-%llx-%llx\"", static_cast<unsigned long long>(what.st_ino),
                static_cast<unsigned long long>(what.st_mtim.tv_sec) * 1'000'000'000 +
                    static_cast<unsigned long long>(what.st_mtim.tv_nsec),
                static_cast<unsigned long long>(what.st_size));
  return text;
}

std::shared_ptr<StoredFile> described(const struct stat& what, std::string_view path) {
  auto file = std::make_shared<StoredFile>();
  file->size = static_cast<std::uint64_t>(what.st_size);
  file->modified_seconds = what.st_mtim.tv_sec;
  file->etag = etag_of(what);
  file->media_type = media_type(path);
  return file;
}

FileStore::Found found_by(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return FileStore::Found::forbidden;
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return FileStore::Found::nothing;
    default:
      throw std::system_error(error, std::generic_category(), "stat");
  }
}

}  // namespace

FileStore::FileStore(std::string root) : root_(std::move(root)) {
  const Status status = status_of(root_);
  if (status.error != 0) throw std::system_error(status.error, std::generic_category(), "--root " + root_);
  if (!S_ISDIR(status.what.st_mode)) throw std::invalid_argument("--root " + root_ + " is no directory");
}

Task<FileStore::Answer> FileStore::find(std::string path) {
  if (const auto kept = kept_.find(path); kept != kept_.end() && now() - kept->second.looked_at < fresh_for)
    co_return Answer(Found::file, kept->second.file);
  const bool directory = path.empty() || path.back() == '/';
  std::string full = root_ + "/" + path;
  if (directory) full += "index.html";
  const Status status = co_await offload(status_of, full);
  if (status.error != 0) co_return Answer(found_by(status.error));
  if (S_ISDIR(status.what.st_mode)) co_return Answer(directory ? Found::nothing : Found::directory);
  if (!S_ISREG(status.what.st_mode)) co_return Answer(Found::forbidden);  // a pipe would block who opens it

  const std::string tag = etag_of(status.what);
  if (const auto kept = kept_.find(path); kept != kept_.end() && kept->second.file->etag == tag) {
    kept->second.looked_at = now();
    co_return Answer(Found::file, kept->second.file);
  }
  const std::shared_ptr<StoredFile> file = described(status.what, full);
  file->in_memory = file->size <= small_bytes;
  int refused = 0;
  try {
    File opened = co_await File::open(full, OpenMode::read);
    if (file->in_memory) {
      file->bytes.resize(static_cast<std::size_t>(file->size));
      const std::size_t came =
          co_await opened.read_all_at(0, std::as_writable_bytes(std::span<char>(file->bytes)));
      file->bytes.resize(came);
      file->size = came;
    }
    co_await opened.close();
  } catch (const std::system_error& error) {
    refused = error.code().value();
  }
  if (refused != 0) co_return Answer(found_by(refused));
  keep(path, file);
  co_return Answer(Found::file, file);
}

// When it is full it begins anew: what is asked for often is back at once.
void FileStore::keep(const std::string& path, std::shared_ptr<const StoredFile> file) {
  if (kept_bytes_ + file->bytes.size() > most_kept_bytes || kept_.size() >= most_kept_files) {
    kept_.clear();
    kept_bytes_ = 0;
  }
  kept_bytes_ += file->bytes.size();
  Kept& place = kept_[path];
  if (place.file != nullptr) kept_bytes_ -= place.file->bytes.size();
  place = {.looked_at = now(), .file = std::move(file)};
}

Task<File> FileStore::open(const std::string& path) const {
  std::string full = root_ + "/" + path;
  if (path.empty() || path.back() == '/') full += "index.html";
  co_return co_await File::open(full, OpenMode::read);
}

std::shared_ptr<const StoredFile> FileStore::describe(const File& file) {
  struct stat what {};
  if (::fstat(file.number(), &what) != 0)
    throw std::system_error(errno, std::generic_category(), "stat " + file.path());
  if (!S_ISREG(what.st_mode)) throw std::system_error(EISDIR, std::generic_category(), file.path());
  return described(what, file.path());
}

}  // namespace bide_http
