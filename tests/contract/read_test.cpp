#include <sys/eventfd.h>
#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

// Single reads: of files, pipes, sockets and devices.

using namespace bide;
using namespace bide::test;

namespace {

const Behaviours read_behaviours(
    Under::delays, {
                       {"read: at an offset gives what is there",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          const Plain file = opened(folder.write("a", "0123456789"), O_RDONLY);
                          std::array<char, 4> memory{};
                          stage.call("read", reading(file.get(), memory, 3));
                          stage.run();
                          CHECK(stage.log == Log{"read: 4"});
                          CHECK(std::string(memory.data(), 4) == "3456");
                        }},
                       {"read: across the end gives the rest, then 0",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          const Plain file = opened(folder.write("a", "0123456789"), O_RDONLY);
                          std::array<char, 64> memory{};
                          stage.call("rest", reading(file.get(), memory, 7));
                          stage.run();
                          stage.call("end", reading(file.get(), memory, 10));
                          stage.run();
                          stage.call("beyond", reading(file.get(), memory, 1000));
                          stage.run();
                          CHECK(stage.log == Log{"rest: 3", "end: 0", "beyond: 0"});
                        }},
                       {"read: of what is open for writing is an error",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          const Plain file = opened(folder / "a", O_WRONLY | O_CREAT);
                          std::array<char, 4> memory{};
                          stage.call("read", reading(file.get(), memory, 0));
                          stage.run();
                          CHECK(stage.log == Log{"read: EBADF"});
                        }},
                       {"read: of a folder is an error",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          const Plain file = opened(folder / "", O_RDONLY);
                          std::array<char, 4> memory{};
                          stage.call("read", reading(file.get(), memory, 0));
                          stage.run();
                          CHECK(stage.log == Log{"read: EISDIR"});
                        }},
                       {"read: without an offset goes on where the file stands",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          const Plain file = opened(folder.write("a", "abcdef"), O_RDONLY);
                          std::array<char, 4> memory{};
                          for (int round = 0; round < 3; ++round) {
                            stage.call("read", reading(file.get(), memory));
                            stage.run();
                          }
                          CHECK(stage.log == Log{"read: 4", "read: 2", "read: 0"});
                        }},
                       {"read: 32 at a time each get their own part",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          std::string content;
                          for (int block = 0; block < 32; ++block)
                            content += std::string(1000, static_cast<char>('A' + block));
                          const Plain file = opened(folder.write("a", content), O_RDONLY);
                          std::vector<std::string> got(32, std::string(1000, '.'));
                          for (std::size_t block = 0; block < 32; ++block)
                            stage.call("read", reading(file.get(), got[block], block * 1000));
                          stage.run();
                          CHECK(stage.log == Log(32, "read: 1000"));
                          std::string all;
                          for (const std::string& block : got) all += block;
                          CHECK(all == content);
                        }},
                       {"read: from a pipe waits for what comes, and gives 0 when nobody writes any more",
                        [](Stage& stage) {
                          Ends ends = Ends::pipe();
                          std::array<char, 16> memory{};
                          stage.call("read", reading(ends[0], memory));
                          later(stage, [&] { static_cast<void>(::write(ends[1], "pipe", 4)); });
                          stage.run();
                          ends.close(1);
                          stage.call("read", reading(ends[0], memory));
                          stage.run();
                          CHECK(stage.log == Log{"read: 4", "read: 0"});
                        }},
                       {"read: from a pipe, cancelled, takes nothing",
                        [](Stage& stage) {
                          const Ends ends = Ends::pipe();
                          std::array<char, 16> memory{};
                          Handle<> handle = stage.call("first", reading(ends[0], memory));
                          later(stage, [&] { handle.cancel(); });
                          stage.run();
                          static_cast<void>(::write(ends[1], "kept", 4));
                          stage.call("second", reading(ends[0], memory));
                          stage.run();
                          CHECK(stage.log == Log{"first: cancelled", "second: 4"});
                        }},
                       {"read: from a socket is a receive",
                        [](Stage& stage) {
                          const Ends ends = Ends::sockets();
                          std::array<char, 16> memory{};
                          stage.call("read", reading(ends[0], memory));
                          later(stage, [&] { ::send(ends[1], "abc", 3, 0); });
                          stage.run();
                          CHECK(stage.log == Log{"read: 3"});
                        }},
                       {"read: from an eventfd waits for its count",
                        [](Stage& stage) {
                          const Plain event(::eventfd(0, EFD_CLOEXEC));
                          std::array<char, 8> memory{};
                          stage.call("read", reading(event.get(), memory));
                          later(stage, [&] { ::eventfd_write(event.get(), 7); });
                          stage.run();
                          CHECK(stage.log == Log{"read: 8"});
                        }},
                       {"read: from a device that is always ready",
                        [](Stage& stage) {
                          const Plain zero = opened("/dev/zero", O_RDONLY);
                          std::array<char, 16> memory{};
                          stage.call("read", reading(zero.get(), memory));
                          stage.run();
                          CHECK(stage.log == Log{"read: 16"});
                        }},
                       {"read: of no bytes gives 0",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          const Plain file = opened(folder.write("a", "abc"), O_RDONLY);
                          stage.call("read", reading(file.get(), {}, 0));
                          stage.run();
                          CHECK(stage.log == Log{"read: 0"});
                        }},
                   });

}  // namespace
