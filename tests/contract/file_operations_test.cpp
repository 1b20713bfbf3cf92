#include <linux/falloc.h>
#include <sys/stat.h>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

// What is done to a file, or to its path.

using namespace bide;
using namespace bide::test;
using Kind = Operation::Kind;

namespace {

const Behaviours file_behaviours(
    Under::delays,
    {
        {"sync: and sync_data of a file",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const Plain file = opened(folder.write("a", "abc"), O_RDWR);
           stage.call("sync", {.kind = Kind::sync, .descriptor = file.get()});
           stage.run();
           stage.call("data", {.kind = Kind::sync_data, .descriptor = file.get()});
           stage.run();
           CHECK(stage.log == Log{"sync: 0", "data: 0"});
         }},
        {"sync: of a pipe is an error",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           stage.call("sync", {.kind = Kind::sync, .descriptor = ends[0]});
           stage.run();
           CHECK(stage.log == Log{"sync: EINVAL"});
         }},
        {"allocate: makes a file larger, or keeps its size",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const Plain file = opened(folder.write("a", ""), O_RDWR);
           stage.call("keeps", {.kind = Kind::allocate,
                                .descriptor = file.get(),
                                .flags = FALLOC_FL_KEEP_SIZE,
                                .offset = 0,
                                .size = 5000});
           stage.run();
           CHECK(content_of(folder / "a").size() == 0);
           stage.call("grows", {.kind = Kind::allocate, .descriptor = file.get(), .offset = 0, .size = 5000});
           stage.run();
           CHECK(stage.log == Log{"keeps: 0", "grows: 0"});
           CHECK(content_of(folder / "a").size() == 5000);
         }},
        {"allocate: nothing is an error",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const Plain file = opened(folder.write("a", ""), O_RDWR);
           stage.call("none", {.kind = Kind::allocate, .descriptor = file.get(), .offset = 0, .size = 0});
           stage.run();
           CHECK(stage.log == Log{"none: EINVAL"});
         }},
        {"rename: takes the place of what was there",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string from = folder.write("from", "new");
           const std::string to = folder.write("to", "old");
           stage.call("rename", {.kind = Kind::rename, .memory = from.c_str(), .more_memory = to.c_str()});
           stage.run();
           CHECK(stage.log == Log{"rename: 0"});
           CHECK(content_of(folder / "to") == "new");
           CHECK_FALSE(std::filesystem::exists(folder / "from"));
         }},
        {"rename: of what is not there is an error",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string from = folder / "from";
           const std::string to = folder / "to";
           stage.call("rename", {.kind = Kind::rename, .memory = from.c_str(), .more_memory = to.c_str()});
           stage.run();
           CHECK(stage.log == Log{"rename: ENOENT"});
         }},
        {"unlink: removes a file",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder.write("a", "");
           stage.call("unlink", {.kind = Kind::unlink, .memory = path.c_str()});
           stage.run();
           CHECK(stage.log == Log{"unlink: 0"});
           CHECK_FALSE(std::filesystem::exists(folder / "a"));
         }},
        {"unlink: removes an empty folder where that is asked for, and only then",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder / "inner";
           CHECK(::mkdir(path.c_str(), 0700) == 0);
           stage.call("file", {.kind = Kind::unlink, .memory = path.c_str()});
           stage.run();
           stage.call("folder", {.kind = Kind::unlink, .memory = path.c_str(), .flags = AT_REMOVEDIR});
           stage.run();
           CHECK(stage.log == Log{"file: EISDIR", "folder: 0"});
         }},
    });

}  // namespace
