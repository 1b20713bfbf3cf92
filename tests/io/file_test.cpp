#include <sys/resource.h>
#include <sys/time.h>
#include <csignal>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/file.hpp>
#include <bide/executor/io/file_system.hpp>
#include <bide/executor/scope/timeout.hpp>

#include "io_run.hpp"
#include "temporary_folder.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

constexpr OpenMode fresh = OpenMode::read_write | OpenMode::create | OpenMode::truncate;

TEST_CASE("File: what is written at an offset is read there, and reads end at the end") {
  const TemporaryFolder folder;
  std::vector<std::string> got;
  std::vector<std::uint64_t> sizes;
  run_io(
      [](std::string path, std::vector<std::string>& texts, std::vector<std::uint64_t>& numbers) -> Task<> {
        File file = co_await File::open(path, fresh, 0640);
        co_await file.write_all_at(0, bytes_of("hello world"));
        co_await file.write_all_at(6, bytes_of("there"));
        std::string text(20, '.');
        numbers.push_back(co_await file.read_at(6, room(text)));
        texts.push_back(text.substr(0, 5));
        numbers.push_back(co_await file.read_at(11, room(text)));
        numbers.push_back(co_await file.read_at(100, room(text)));
        numbers.push_back(co_await file.read_all_at(1, room(text)));
        texts.push_back(text.substr(0, 10));
        numbers.push_back(co_await file.size());
        co_await file.truncate(5);
        numbers.push_back(co_await file.size());
        co_await file.allocate(0, 100);
        numbers.push_back(co_await file.size());
        co_await file.sync();
        co_await file.sync_data();
        numbers.push_back(co_await file.read_at(0, std::span<std::byte>()));
        numbers.push_back(co_await file.write_at(0, std::span<const std::byte>()));
        co_await file.close();
      }(folder / "a", got, sizes));
  CHECK(got == std::vector<std::string>{"there", "ello there"});
  CHECK(sizes == std::vector<std::uint64_t>{5, 0, 0, 10, 11, 5, 100, 0, 0});
}

Task<> opens(std::string path, OpenMode mode) {
  File file = co_await File::open(path, mode);
  co_await file.close();
}

TEST_CASE("File: modes create, refuse what is there, and append; errors name call and path") {
  const TemporaryFolder folder;
  const std::string path = folder / "b";
  const Failure missing = run_io(failure_of(opens, path, OpenMode::read));
  CHECK(missing.code == std::errc::no_such_file_or_directory);
  CHECK(missing.text == "open " + path + ": No such file or directory");
  const OpenMode only_new = OpenMode::write | OpenMode::create | OpenMode::exclusive;
  CHECK(run_io(failure_of(opens, path, only_new)).text.empty());
  CHECK(run_io(failure_of(opens, path, only_new)).code == std::errc::file_exists);
  run_io([](std::string name) -> Task<> {
    File file = co_await File::open(name, OpenMode::append);
    co_await file.write_all_at(0, bytes_of("one "));
    co_await file.write_all_at(0, bytes_of("two"));
  }(path));
  CHECK(content_of(path) == "one two");
  CHECK(run_io(failure_of(opens, std::string("a\0b", 3), OpenMode::read)).text ==
        "open a\\x00b: Invalid argument");
  CHECK(run_io(failure_of(opens, std::string("a\nb"), OpenMode::read)).text ==
        "open a\\x0ab: No such file or directory");
}

TEST_CASE("File: a closed file fails, and so does one that was never opened") {
  const Failure failure = run_io(failure_of([]() -> Task<> {
    File file;
    co_await file.sync();
  }));
  CHECK(failure.code == std::errc::bad_file_descriptor);
}

// FAULTS F2, K5
TEST_CASE("File: any number of parts is written and read, also empty ones") {
  const TemporaryFolder folder;
  for (const std::size_t count : {1U, 1024U, 1025U, 5000U}) {
    std::vector<std::string> texts;
    std::string all;
    for (std::size_t part = 0; part < count; ++part) {
      const bool empty = part == 0 || part == count - 1 || part % 97 == 50;
      texts.push_back(empty && count > 1 ? "" : "part " + std::to_string(part) + ";");
      all += texts.back();
    }
    std::string came(all.size() + 5, '\0');
    std::vector<std::size_t> sizes;
    run_io([](std::string path, const std::vector<std::string>& from, std::string& into,
              std::vector<std::size_t>& got) -> Task<> {
      File file = co_await File::open(path, fresh);
      const std::vector<WritePart> writes = [&from] {
        std::vector<WritePart> parts;
        for (const std::string& text : from) parts.emplace_back(bytes_of(text));
        return parts;
      }();
      got.push_back(co_await file.write_parts_at(3, writes));
      std::vector<ReadPart> reads;
      for (std::size_t at = 0; at < into.size(); at += 7) {
        reads.emplace_back(room(into).subspan(at, std::min<std::size_t>(7, into.size() - at)));
        reads.emplace_back(std::span<std::byte>());
      }
      got.push_back(co_await file.read_parts_at(3, reads));
      got.push_back(co_await file.write_parts_at(0, std::span<const WritePart>()));
    }(folder / "parts", texts, came, sizes));
    CHECK(sizes == std::vector<std::size_t>{all.size(), all.size(), 0});
    CHECK(came.substr(0, all.size()) == all);
  }
}

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// FAULTS F4
TEST_CASE("File: a short write goes on, and its failure names the file and how much was written") {
  const TemporaryFolder folder;
  const std::string path = folder / "limited";
  Failure failure;
  {
    const FileSizeLimit limit(1500);
    failure = run_io(failure_of(
        [](std::string name) -> Task<> {
          File file = co_await File::open(name, fresh);
          const std::string text(4096, 'z');
          co_await file.write_all_at(0, bytes_of(text));
        },
        path));
  }
  CHECK(failure.code == std::errc::file_too_large);
  CHECK(failure.text == "write " + path + " (1500 of 4096 bytes are written): File too large");
  CHECK(content_of(path) == std::string(1500, 'z'));
}

// FAULTS F1
TEST_CASE("File: signals each millisecond do not disturb writes") {
  const TemporaryFolder folder;
  const std::string path = folder / "interrupted";
  constexpr std::size_t size = 64U << 20U;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};  // without SA_RESTART
  ::sigaction(SIGALRM, &action, &before);
  const itimerval each_millisecond{{0, 1000}, {0, 1000}};
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &each_millisecond, nullptr);
  bool same = true;
  run_io([](std::string name, bool& right) -> Task<> {
    const std::string text = bytes_that_count(size);
    File file = co_await File::open(name, fresh);
    std::string came(size, '\0');
    for (std::uint64_t at = 0; at < 4 * size; at += size) {
      co_await file.write_all_at(at, bytes_of(text));
      const std::size_t bytes = co_await file.read_all_at(at, room(came));
      right = right && bytes == size && came == text;
    }
  }(path, same));
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  CHECK(same);
}

// FAULTS K3
TEST_CASE("File: an open under a cancel is delivered or closed") {
  const TemporaryFolder folder;
  const std::string path = folder / "many";
  const int before = descriptor_count();
  int opened = 0;
  Executor executor;
  executor.submit(
      {},
      [](std::string name, int* count) -> Task<> {
        for (int turn = 0; turn < 10'000; ++turn) {
          Handle<> opening = submit(
              {},
              [](std::string of, int* got) -> Task<> {
                File file = co_await File::open(of, fresh);
                ++*got;
              },
              name, count);
          for (int yields = turn % 4; yields > 0; --yields) co_await Yield();
          opening.cancel();
          try {
            co_await opening;
          } catch (const Cancelled&) {
          }
        }
      },
      path, &opened);
  executor.run();
  CHECK(descriptor_count() - before <= 4);  // the driver's own
  CHECK(opened <= 10'000);
}

TEST_CASE("File system: rename, remove, directories, status and a sorted list") {
  const TemporaryFolder folder;
  std::vector<std::string> names;
  FileStatus status;
  FileStatus of_folder;
  run_io([](std::string root, std::vector<std::string>& list, FileStatus& file, FileStatus& inner) -> Task<> {
    co_await make_directory(root + "/inner", 0750);
    for (const char* name : {"b", "a", "B", "c"}) {
      File made = co_await File::open(root + "/inner/" + name, fresh, 0600);
      co_await made.write_all_at(0, bytes_of(name));
    }
    co_await rename_file(root + "/inner/c", root + "/inner/a");
    co_await remove_file(root + "/inner/B");
    co_await make_directory(root + "/inner/d");
    const std::vector<DirectoryEntry> entries = co_await list_directory(root + "/inner");
    for (const DirectoryEntry& entry : entries) {
      list.push_back(entry.name + (entry.kind == FileKind::directory ? "/" : ""));
    }
    file = co_await file_status(root + "/inner/a");
    inner = co_await file_status(root + "/inner");
    co_await remove_directory(root + "/inner/d");
  }(folder / "", names, status, of_folder));
  CHECK(names == std::vector<std::string>{"a", "b", "d/"});
  CHECK(content_of(folder / "inner/a") == "c");
  CHECK(status.kind == FileKind::regular);
  CHECK(status.size == 1);
  CHECK(status.permissions == 0600);
  CHECK(status.modified.time_since_epoch() > 0ns);
  CHECK(of_folder.kind == FileKind::directory);
}

TEST_CASE("File system: errors name call and path") {
  const TemporaryFolder folder;
  const std::string none = folder / "none";
  const auto text_of_failure = [](Task<> (*function)(std::string), const std::string& path) {
    return run_io(failure_of(function, path)).text;
  };
  const std::string missing = ": No such file or directory";
  CHECK(text_of_failure([](std::string path) -> Task<> { co_await remove_file(path); }, none) ==
        "remove " + none + missing);
  CHECK(text_of_failure([](std::string path) -> Task<> { co_await rename_file(path, "x"); }, none) ==
        "rename " + none + " to x" + missing);
  CHECK(text_of_failure([](std::string path) -> Task<> { co_await file_status(path); }, none) ==
        "status of " + none + missing);
  CHECK(text_of_failure([](std::string path) -> Task<> { co_await list_directory(path); }, none) ==
        "list " + none + missing);
  CHECK(text_of_failure([](std::string path) -> Task<> { co_await make_directory(path + "/a"); }, none) ==
        "make directory " + none + "/a" + missing);
}

}  // namespace
