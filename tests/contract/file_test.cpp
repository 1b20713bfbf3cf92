#include <sys/resource.h>
#include <csignal>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/io/file.hpp>
#include <bide/executor/io/file_system.hpp>
#include <bide/executor/io/stream.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

constexpr OpenMode make_new = OpenMode::read_write | OpenMode::create | OpenMode::exclusive;

std::span<std::byte> room(std::string& text) { return std::as_writable_bytes(std::span(text)); }

/// Runs the body as a thread, with a folder of its own.
void in_folder(Stage& stage, Task<> (*body)(Stage& stage, const TemporaryFolder& folder)) {
  const TemporaryFolder folder;
  stage.submit([&stage, &folder, body]() -> Task<> { return body(stage, folder); });
  stage.run();
}

/// A limit on the size of files for a while, and no death by the signal that tells of it.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    checked(::getrlimit(RLIMIT_FSIZE, &before_));
    const rlimit limit{bytes, before_.rlim_max};
    checked(::setrlimit(RLIMIT_FSIZE, &limit));
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    checked(::setrlimit(RLIMIT_FSIZE, &before_));
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

const Behaviours open_behaviours(
    Under::all_faults,
    {
        {"File: open of what is not there is an error that names call and path",
         [](Stage& stage) {
           stage.submit(
               []() -> Task<> { const File file = co_await File::open("/no/such/file", OpenMode::read); });
           stage.run();
           CHECK(stage.log == Log{"error: open /no/such/file: No such file or directory"});
         }},
        {"File: exclusive creation happens once",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             const std::string path = folder / "a";
             File first = co_await File::open(path, make_new);
             co_await first.close();
             on.note("made");
             const File second = co_await File::open(path, make_new);
           });
           REQUIRE(stage.log.size() == 2);
           CHECK_THAT(stage.log[1], Catch::EndsWith("File exists"));
         }},
        {"File: truncate empties what was there, append keeps it",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             const std::string path = folder.write("a", "old");
             File appended = co_await File::open(path, OpenMode::write | OpenMode::append);
             co_await appended.write_all_at(0, bytes_of("+new"));
             co_await appended.close();
             on.note(content_of(folder / "a"));
             File emptied = co_await File::open(path, OpenMode::write | OpenMode::truncate);
             co_await emptied.close();
             on.note("<" + content_of(folder / "a") + ">");
           });
           CHECK(stage.log == Log{"old+new", "<>"});
         }},
        {"File: opens under cancel leave no descriptor behind",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder.write("a", "");
           stage.submit([&]() -> Task<> { const File file = co_await File::open(path, OpenMode::read); });
           stage.run();
           const int before = descriptor_count();
           stage.submit([&]() -> Task<> {
             const auto opens = [](std::string name) -> Task<> {
               const File file = co_await File::open(name, OpenMode::read);
             };
             for (int round = 0; round < 100; ++round) {
               Handle<> handle = submit({}, opens, path);
               for (int turn = 0; turn < round % 4; ++turn) co_await Yield();
               handle.cancel();
             }
           });
           stage.run();
           CHECK(stage.log.empty());
           CHECK(descriptor_count() == before);
         }},
        {"File: one that is not open is an error to use",
         [](Stage& stage) {
           stage.submit([]() -> Task<> {
             File file;
             co_await file.sync();
           });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("Bad file descriptor"));
         }},
    });

const Behaviours transfer_behaviours(
    Under::all_faults,
    {
        {"File: what is written all is read all",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             File file = co_await File::open(folder / "a", make_new);
             std::string text(100'000, '\0');
             for (std::size_t place = 0; place < text.size(); ++place)
               text[place] = static_cast<char>(place % 251);
             on.note(std::to_string(co_await file.write_all_at(10, bytes_of(text))));
             std::string got(text.size() + 50, '.');
             on.note(std::to_string(co_await file.read_all_at(10, room(got))));
             got.resize(text.size());
             on.note(got == text ? "same" : "differs");
             on.note(std::to_string(co_await file.size()));
             co_await file.close();
           });
           CHECK(stage.log == Log{"100000", "100000", "same", "100010"});
         }},
        {"File: reads at and behind the end give 0",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             File file = co_await File::open(folder.write("a", "abc"), OpenMode::read);
             std::string memory(10, '.');
             on.note(std::to_string(co_await file.read_at(3, room(memory))));
             on.note(std::to_string(co_await file.read_at(1000, room(memory))));
             on.note(std::to_string(co_await file.read_all_at(1, room(memory))));
           });
           CHECK(stage.log == Log{"0", "0", "2"});
         }},
        {"File: reads and writes of nothing give 0",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             File file = co_await File::open(folder.write("a", "abc"), OpenMode::read_write);
             on.note(std::to_string(co_await file.read_at(0, std::span<std::byte>())));
             on.note(std::to_string(co_await file.write_at(0, std::span<std::byte>())));
             on.note(std::to_string(co_await file.write_all_at(0, std::span<std::byte>())));
             on.note(std::to_string(co_await file.read_all_at(0, std::span<std::byte>())));
             on.note(std::to_string(co_await file.write_parts_at(0, std::span<const WritePart>())));
           });
           CHECK(stage.log == Log{"0", "0", "0", "0", "0"});
         }},
        {"File: any number of parts is written and read, empty ones among them",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             File file = co_await File::open(folder / "a", make_new);
             for (const std::size_t count : {1U, 1024U, 1025U, 5000U}) {
               const std::string text = "ab";
               std::vector<WritePart> parts;
               for (std::size_t part = 0; part < count; ++part)
                 parts.push_back(part % 7 == 0 ? WritePart(std::span<const std::byte>())
                                               : WritePart(bytes_of(text)));
               const std::size_t written = co_await file.write_parts_at(0, parts);
               std::string got(written, '.');
               std::vector<ReadPart> into;
               for (std::size_t place = 0; place < got.size(); place += 2)
                 into.push_back(ReadPart(room(got).subspan(place, 2)));
               const std::size_t read = co_await file.read_parts_at(0, into);
               const bool right = written == 2 * (count - (count + 6) / 7) && read == written &&
                                  got.find_first_not_of("ab") == std::string::npos;
               on.note(right ? "right" : std::to_string(written) + " " + std::to_string(read));
             }
           });
           CHECK(stage.log == Log{"right", "right", "right", "right"});
         }},
        {"File: a write over the limit of the process is an error that names the file and how much was "
         "written",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             const std::string path = folder / "a";
             File file = co_await File::open(path, make_new);
             const std::string text(4000, 'x');
             const FileSizeLimit limit(1500);
             try {
               co_await file.write_all_at(0, bytes_of(text));
             } catch (const std::system_error& error) {
               const std::string said = error.what();
               on.note(error.code() == std::errc::file_too_large ? "too large" : said);
               on.note(said.find(path) != std::string::npos ? "names it" : said);
               on.note(said.find("1500") != std::string::npos ? "says how much" : said);
             }
             on.note(std::to_string(co_await file.size()));
           });
           CHECK(stage.log == Log{"too large", "names it", "says how much", "1500"});
         }},
        {"File: 32 writes at a time all land where they belong",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             File file = co_await File::open(folder / "a", make_new);
             std::string wanted;
             std::vector<Handle<>> writing;
             const auto writes = [](File& to, std::uint64_t block) -> Task<> {
               const std::string text(1000, static_cast<char>('A' + block));
               co_await to.write_all_at(block * 1000, bytes_of(text));
             };
             for (std::uint64_t block = 0; block < 32; ++block) {
               wanted += std::string(1000, static_cast<char>('A' + block));
               writing.push_back(submit({}, writes, std::ref(file), block));
             }
             for (Handle<>& handle : writing) co_await handle;
             on.note(content_of(folder / "a") == wanted ? "same" : "differs");
           });
           CHECK(stage.log == Log{"same"});
         }},
        {"File: a close waits for writes under way, and reads after it are errors",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             File file = co_await File::open(folder / "a", make_new);
             co_await file.write_all_at(0, bytes_of("abc"));
             co_await file.close();
             on.note(file.is_open() ? "open" : "closed");
             std::string memory(3, '.');
             try {
               co_await file.read_at(0, room(memory));
             } catch (const std::system_error& error) {
               on.note(error.code().message());
             }
           });
           CHECK(stage.log == Log{"closed", "Bad file descriptor"});
         }},
        {"File: sync, sync_data, allocate, truncate and size",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             File file = co_await File::open(folder / "a", make_new);
             co_await file.allocate(0, 5000);
             on.note(std::to_string(co_await file.size()));
             co_await file.truncate(10);
             on.note(std::to_string(co_await file.size()));
             co_await file.sync();
             co_await file.sync_data();
             co_await file.close();
             on.note(std::to_string(content_of(folder / "a").size()));
           });
           CHECK(stage.log == Log{"5000", "10", "10"});
         }},
    });

const Behaviours path_behaviours(
    Under::all_faults,
    {
        {"rename_file: takes the place of what was there",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             co_await rename_file(folder.write("from", "new"), folder.write("to", "old"));
             on.note(content_of(folder / "to"));
             on.note(std::filesystem::exists(folder / "from") ? "still there" : "gone");
           });
           CHECK(stage.log == Log{"new", "gone"});
         }},
        {"remove_file: of what is not there is an error that names it",
         [](Stage& stage) {
           stage.submit([]() -> Task<> { co_await remove_file("/no/such/file"); });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("/no/such/file") && Catch::Contains("No such file"));
         }},
        {"make_directory: and remove_directory, which wants it empty",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             const std::string path = folder / "inner";
             co_await make_directory(path);
             static_cast<void>(folder.write("inner/file", ""));
             try {
               co_await remove_directory(path);
             } catch (const std::system_error& error) {
               on.note(error.code().message());
             }
             co_await remove_file(folder / "inner/file");
             co_await remove_directory(path);
             on.note(std::filesystem::exists(folder / "inner") ? "still there" : "gone");
           });
           CHECK(stage.log == Log{"Directory not empty", "gone"});
         }},
        {"list_directory: in the order of the names",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             for (const char* name : {"b", "c", "a", "B"}) static_cast<void>(folder.write(name, ""));
             const std::vector<DirectoryEntry> entries = co_await list_directory(folder / "");
             for (const DirectoryEntry& entry : entries) on.note(entry.name);
           });
           CHECK(stage.log == Log{"B", "a", "b", "c"});
         }},
        {"file_status: tells kind and size",
         [](Stage& stage) {
           in_folder(stage, [](Stage& on, const TemporaryFolder& folder) -> Task<> {
             const FileStatus file = co_await file_status(folder.write("a", "12345"));
             on.note(file.kind == FileKind::regular ? std::to_string(file.size) : "not a file");
             const FileStatus directory = co_await file_status(folder / "");
             on.note(directory.kind == FileKind::directory ? "directory" : "not a directory");
           });
           CHECK(stage.log == Log{"5", "directory"});
         }},
    });

}  // namespace
