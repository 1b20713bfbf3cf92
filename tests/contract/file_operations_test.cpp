#include <linux/falloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <array>
#include <cerrno>
#include <string>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;
using Kind = Operation::Kind;

namespace {

Request opening(const std::string& path, int flags, std::uint32_t permissions = 0) {
  return {.kind = Kind::open,
          .memory = path.c_str(),
          .flags = static_cast<std::uint32_t>(flags),
          .permissions = permissions};
}
Request on(Kind kind, int descriptor) { return {.kind = kind, .descriptor = descriptor}; }
Request vector(Kind kind, int descriptor, std::span<const iovec> parts,
               std::uint64_t offset = Operation::current_offset) {
  return {.kind = kind,
          .descriptor = descriptor,
          .memory = parts.data(),
          .length = parts.size(),
          .offset = offset};
}
iovec part(std::string& text) { return {text.data(), text.size()}; }

template <class F>
void later(Stage& stage, F function) {
  stage.submit([function]() -> Task<> {
    co_await Sleep(2ms);
    function();
  });
}

Plain opened(const std::string& path, int flags) {
  return Plain(::open(path.c_str(), flags | O_CLOEXEC, 0600));
}

const Behaviours open_behaviours(Under::delays,
                                 {
                                     {"open: gives a descriptor that is close-on-exec",
                                      [](Stage& stage) {
                                        const Folder folder;
                                        const std::string path = folder.write("a", "content");
                                        std::int64_t result = -1;
                                        stage.submit([&]() -> Task<> {
                                          result = co_await RawCall(opening(path, O_RDONLY));
                                        });
                                        stage.run();
                                        REQUIRE(result >= 0);
                                        const Plain file(static_cast<int>(result));
                                        CHECK((::fcntl(file.get(), F_GETFD) & FD_CLOEXEC) != 0);
                                      }},
                                     {"open: what is not there is an error",
                                      [](Stage& stage) {
                                        const Folder folder;
                                        const std::string path = folder.path("none");
                                        stage.call("open", opening(path, O_RDONLY));
                                        stage.run();
                                        CHECK(stage.log == Log{"open: ENOENT"});
                                      }},
                                     {"open: makes a file with the permissions",
                                      [](Stage& stage) {
                                        const Folder folder;
                                        const std::string path = folder.path("new");
                                        std::int64_t result = -1;
                                        stage.submit([&]() -> Task<> {
                                          result = co_await RawCall(opening(path, O_WRONLY | O_CREAT, 0600));
                                        });
                                        stage.run();
                                        REQUIRE(result >= 0);
                                        const Plain file(static_cast<int>(result));
                                        struct stat about {};
                                        CHECK(::fstat(file.get(), &about) == 0);
                                        CHECK((about.st_mode & 0777U) == 0600);
                                      }},
                                     {"open: exclusively what is there is an error",
                                      [](Stage& stage) {
                                        const Folder folder;
                                        const std::string path = folder.write("a", "");
                                        stage.call("open", opening(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
                                        stage.run();
                                        CHECK(stage.log == Log{"open: EEXIST"});
                                      }},
                                     {"open: a folder for writing is an error",
                                      [](Stage& stage) {
                                        const Folder folder;
                                        const std::string path = folder.path("");
                                        stage.call("open", opening(path, O_WRONLY));
                                        stage.run();
                                        CHECK(stage.log == Log{"open: EISDIR"});
                                      }},
                                     {"open: a hundred under cancel leave no descriptor behind",
                                      [](Stage& stage) {
                                        const Folder folder;
                                        const std::string path = folder.write("a", "");
                                        stage.call("warm up", on(Kind::sync, opened(path, O_RDONLY).get()));
                                        stage.run();
                                        const int before = descriptor_count();
                                        int delivered = 0;
                                        std::vector<Handle<>> handles;
                                        for (int number = 0; number < 100; ++number) {
                                          handles.push_back(stage.submit([&]() -> Task<> {
                                            const std::int64_t result =
                                                co_await RawCall(opening(path, O_RDONLY));
                                            if (result < 0) co_return;
                                            ++delivered;
                                            ::close(static_cast<int>(result));
                                          }));
                                        }
                                        stage.submit([&]() -> Task<> {
                                          for (Handle<>& handle : handles) handle.cancel();
                                          co_return;
                                        });
                                        stage.run();
                                        CHECK(descriptor_count() == before);
                                        CHECK(delivered <= 100);
                                      }},
                                 });

const Behaviours close_behaviours(Under::delays,
                                  {
                                      {"close: a file is closed",
                                       [](Stage& stage) {
                                         const Folder folder;
                                         const int file = opened(folder.write("a", ""), O_RDONLY).release();
                                         stage.call("close", on(Kind::close, file));
                                         stage.run();
                                         CHECK(stage.log == Log{"close: 0"});
                                         CHECK(::fcntl(file, F_GETFD) == -1);
                                       }},
                                      {"close: a socket is closed, and the peer sees the end",
                                       [](Stage& stage) {
                                         TcpEnds ends;
                                         stage.call("close", on(Kind::close, ends.client.release()));
                                         stage.run();
                                         char byte = 0;
                                         CHECK(::recv(ends.server.get(), &byte, 1, 0) == 0);
                                       }},
                                      {"close: a pipe is closed",
                                       [](Stage& stage) {
                                         const Ends ends = Ends::pipe();
                                         stage.call("close", on(Kind::close, ::dup(ends[0])));
                                         stage.run();
                                         CHECK(stage.log == Log{"close: 0"});
                                       }},
                                      {"close: what is not open is an error",
                                       [](Stage& stage) {
                                         stage.call("close", on(Kind::close, 1'000'000));
                                         stage.run();
                                         CHECK(stage.log == Log{"close: EBADF"});
                                       }},
                                      {"close: the number is free for the next, whose operations are its own",
                                       [](Stage& stage) {
                                         std::array<char, 8> memory{};
                                         for (int round = 0; round < 5; ++round) {
                                           Ends ends = Ends::sockets();
                                           const int number = ends[0];
                                           stage.call("receive", receiving(number, memory));
                                           later(stage, [&] { ::send(ends[1], "x", 1, 0); });
                                           stage.run();
                                           stage.call("close", on(Kind::close, ::dup(number)));
                                           stage.run();
                                           driver_of(stage.executor).closing(number);
                                         }
                                         CHECK(stage.log.size() == 10);
                                         CHECK(std::count(stage.log.begin(), stage.log.end(), "receive: 1") ==
                                               5);
                                       }},
                                  });

const Behaviours read_behaviours(
    Under::delays, {
                       {"read: at an offset gives what is there",
                        [](Stage& stage) {
                          const Folder folder;
                          const Plain file = opened(folder.write("a", "0123456789"), O_RDONLY);
                          std::array<char, 4> memory{};
                          stage.call("read", reading(file.get(), memory, 3));
                          stage.run();
                          CHECK(stage.log == Log{"read: 4"});
                          CHECK(std::string(memory.data(), 4) == "3456");
                        }},
                       {"read: across the end gives the rest, then 0",
                        [](Stage& stage) {
                          const Folder folder;
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
                          const Folder folder;
                          const Plain file = opened(folder.path("a"), O_WRONLY | O_CREAT);
                          std::array<char, 4> memory{};
                          stage.call("read", reading(file.get(), memory, 0));
                          stage.run();
                          CHECK(stage.log == Log{"read: EBADF"});
                        }},
                       {"read: of a folder is an error",
                        [](Stage& stage) {
                          const Folder folder;
                          const Plain file = opened(folder.path(""), O_RDONLY);
                          std::array<char, 4> memory{};
                          stage.call("read", reading(file.get(), memory, 0));
                          stage.run();
                          CHECK(stage.log == Log{"read: EISDIR"});
                        }},
                       {"read: without an offset goes on where the file stands",
                        [](Stage& stage) {
                          const Folder folder;
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
                          const Folder folder;
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
                          const Folder folder;
                          const Plain file = opened(folder.write("a", "abc"), O_RDONLY);
                          stage.call("read", reading(file.get(), {}, 0));
                          stage.run();
                          CHECK(stage.log == Log{"read: 0"});
                        }},
                   });

const Behaviours write_behaviours(Under::delays,
                                  {
                                      {"write: at an offset changes what is there, and no more",
                                       [](Stage& stage) {
                                         const Folder folder;
                                         const Plain file = opened(folder.write("a", "0123456789"), O_RDWR);
                                         stage.call("write", writing(file.get(), "xyz", 4));
                                         stage.run();
                                         CHECK(stage.log == Log{"write: 3"});
                                         CHECK(folder.content("a") == "0123xyz789");
                                       }},
                                      {"write: beyond the end leaves zeros between",
                                       [](Stage& stage) {
                                         const Folder folder;
                                         const Plain file = opened(folder.write("a", "ab"), O_RDWR);
                                         stage.call("write", writing(file.get(), "z", 4));
                                         stage.run();
                                         CHECK(folder.content("a") == std::string("ab\0\0z", 5));
                                       }},
                                      {"write: to what is open for reading is an error",
                                       [](Stage& stage) {
                                         const Folder folder;
                                         const Plain file = opened(folder.write("a", ""), O_RDONLY);
                                         stage.call("write", writing(file.get(), "x", 0));
                                         stage.run();
                                         CHECK(stage.log == Log{"write: EBADF"});
                                       }},
                                      {"write: without an offset appends where the file was opened so",
                                       [](Stage& stage) {
                                         const Folder folder;
                                         const Plain file =
                                             opened(folder.write("a", "one"), O_WRONLY | O_APPEND);
                                         stage.call("write", writing(file.get(), "two"));
                                         stage.run();
                                         CHECK(folder.content("a") == "onetwo");
                                       }},
                                      {"write: of much is done whole, or says how much",
                                       [](Stage& stage) {
                                         const Folder folder;
                                         const Plain file = opened(folder.path("a"), O_WRONLY | O_CREAT);
                                         const std::string much(5 << 20, 'y');
                                         stage.call("write", writing(file.get(), much, 0));
                                         stage.run();
                                         CHECK(stage.log == Log{"write: " + std::to_string(much.size())});
                                         CHECK(folder.content("a") == much);
                                       }},
                                      {"write: to a pipe that nobody reads is an error, and no signal",
                                       [](Stage& stage) {
                                         Ends ends = Ends::pipe();
                                         ends.close(0);
                                         stage.call("write", writing(ends[1], "x"));
                                         stage.run();
                                         CHECK(stage.log == Log{"write: EPIPE"});
                                       }},
                                      {"write: to a socket whose peer is gone is an error, and no signal",
                                       [](Stage& stage) {
                                         Ends ends = Ends::sockets();
                                         ends.close(0);
                                         stage.call("write", writing(ends[1], "x"));
                                         stage.run();
                                         CHECK(stage.log == Log{"write: EPIPE"});
                                       }},
                                      {"write: to a full pipe waits until somebody reads",
                                       [](Stage& stage) {
                                         const Ends ends = Ends::pipe();
                                         const std::string fill(65536, 'f');
                                         CHECK(::write(ends[1], fill.data(), fill.size()) == 65536);
                                         stage.call("write", writing(ends[1], "more"));
                                         later(stage, [&] {
                                           stage.note("drain");
                                           std::string drained(65536, '.');
                                           static_cast<void>(::read(ends[0], drained.data(), drained.size()));
                                         });
                                         stage.run();
                                         CHECK(stage.log == Log{"drain", "write: 4"});
                                       }},
                                      {"write: to a full pipe, cancelled, has written nothing",
                                       [](Stage& stage) {
                                         const Ends ends = Ends::pipe();
                                         std::string fill(65536, 'f');
                                         CHECK(::write(ends[1], fill.data(), fill.size()) == 65536);
                                         Handle<> handle = stage.call("write", writing(ends[1], "more"));
                                         later(stage, [&] { handle.cancel(); });
                                         stage.run();
                                         CHECK(stage.log == Log{"write: cancelled"});
                                         CHECK(::read(ends[0], fill.data(), fill.size()) == 65536);
                                         pollfd watched{ends[0], POLLIN, 0};
                                         CHECK(::poll(&watched, 1, 0) == 0);
                                       }},
                                      {"write: to a pipe whose reader goes while it waits is an error",
                                       [](Stage& stage) {
                                         Ends ends = Ends::pipe();
                                         const std::string fill(65536, 'f');
                                         CHECK(::write(ends[1], fill.data(), fill.size()) == 65536);
                                         stage.call("write", writing(ends[1], "more"));
                                         later(stage, [&] { ends.close(0); });
                                         stage.run();
                                         CHECK(stage.log == Log{"write: EPIPE"});
                                       }},
                                  });

const Behaviours vector_behaviours(
    Under::delays, {
                       {"write_vector: writes its parts in order, and read_vector reads into them",
                        [](Stage& stage) {
                          const Folder folder;
                          const Plain file = opened(folder.path("a"), O_RDWR | O_CREAT);
                          std::string one = "one";
                          std::string none;
                          std::string two = "twotwo";
                          const std::array<iovec, 3> out{part(one), part(none), part(two)};
                          stage.call("write", vector(Kind::write_vector, file.get(), out, 0));
                          stage.run();
                          std::string first(4, '.');
                          std::string second(10, '.');
                          const std::array<iovec, 2> in{part(first), part(second)};
                          stage.call("read", vector(Kind::read_vector, file.get(), in, 0));
                          stage.run();
                          CHECK(stage.log == Log{"write: 9", "read: 9"});
                          CHECK(first + "|" + second == "onet|wotwo.....");
                        }},
                       {"write_vector: 1,024 parts, the most there may be",
                        [](Stage& stage) {
                          const Folder folder;
                          const Plain file = opened(folder.path("a"), O_RDWR | O_CREAT);
                          std::string text = "ab";
                          const std::vector<iovec> parts(1024, part(text));
                          stage.call("write", vector(Kind::write_vector, file.get(), parts, 0));
                          stage.run();
                          CHECK(stage.log == Log{"write: 2048"});
                        }},
                       {"write_vector: more parts than there may be are an error",
                        [](Stage& stage) {
                          const Folder folder;
                          const Plain file = opened(folder.path("a"), O_RDWR | O_CREAT);
                          std::string text = "ab";
                          const std::vector<iovec> parts(1025, part(text));
                          stage.call("write", vector(Kind::write_vector, file.get(), parts, 0));
                          stage.run();
                          CHECK(stage.log == Log{"write: EINVAL"});
                        }},
                       {"write_vector: through a pipe, to a read_vector that waits",
                        [](Stage& stage) {
                          const Ends ends = Ends::pipe();
                          std::string first(2, '.');
                          std::string second(6, '.');
                          const std::array<iovec, 2> in{part(first), part(second)};
                          std::string text = "abc";
                          const std::array<iovec, 2> out{part(text), part(text)};
                          stage.call("read", vector(Kind::read_vector, ends[0], in));
                          stage.call("write", vector(Kind::write_vector, ends[1], out));
                          stage.run();
                          CHECK(stage.log == Log{"write: 6", "read: 6"});
                          CHECK(first + "|" + second == "ab|cabc..");
                        }},
                       {"read_vector: no parts give 0",
                        [](Stage& stage) {
                          const Folder folder;
                          const Plain file = opened(folder.write("a", "abc"), O_RDONLY);
                          stage.call("read", vector(Kind::read_vector, file.get(), {}, 0));
                          stage.run();
                          CHECK(stage.log == Log{"read: 0"});
                        }},
                   });

const Behaviours file_behaviours(
    Under::delays,
    {
        {"sync: and sync_data of a file",
         [](Stage& stage) {
           const Folder folder;
           const Plain file = opened(folder.write("a", "abc"), O_RDWR);
           stage.call("sync", on(Kind::sync, file.get()));
           stage.run();
           stage.call("data", on(Kind::sync_data, file.get()));
           stage.run();
           CHECK(stage.log == Log{"sync: 0", "data: 0"});
         }},
        {"sync: of a pipe is an error",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           stage.call("sync", on(Kind::sync, ends[0]));
           stage.run();
           CHECK(stage.log == Log{"sync: EINVAL"});
         }},
        {"allocate: makes a file larger, or keeps its size",
         [](Stage& stage) {
           const Folder folder;
           const Plain file = opened(folder.write("a", ""), O_RDWR);
           stage.call("keeps", {.kind = Kind::allocate,
                                .descriptor = file.get(),
                                .flags = FALLOC_FL_KEEP_SIZE,
                                .offset = 0,
                                .size = 5000});
           stage.run();
           CHECK(folder.content("a").size() == 0);
           stage.call("grows", {.kind = Kind::allocate, .descriptor = file.get(), .offset = 0, .size = 5000});
           stage.run();
           CHECK(stage.log == Log{"keeps: 0", "grows: 0"});
           CHECK(folder.content("a").size() == 5000);
         }},
        {"allocate: nothing is an error",
         [](Stage& stage) {
           const Folder folder;
           const Plain file = opened(folder.write("a", ""), O_RDWR);
           stage.call("none", {.kind = Kind::allocate, .descriptor = file.get(), .offset = 0, .size = 0});
           stage.run();
           CHECK(stage.log == Log{"none: EINVAL"});
         }},
        {"rename: takes the place of what was there",
         [](Stage& stage) {
           const Folder folder;
           const std::string from = folder.write("from", "new");
           const std::string to = folder.write("to", "old");
           stage.call("rename", {.kind = Kind::rename, .memory = from.c_str(), .more_memory = to.c_str()});
           stage.run();
           CHECK(stage.log == Log{"rename: 0"});
           CHECK(folder.content("to") == "new");
           CHECK_FALSE(folder.has("from"));
         }},
        {"rename: of what is not there is an error",
         [](Stage& stage) {
           const Folder folder;
           const std::string from = folder.path("from");
           const std::string to = folder.path("to");
           stage.call("rename", {.kind = Kind::rename, .memory = from.c_str(), .more_memory = to.c_str()});
           stage.run();
           CHECK(stage.log == Log{"rename: ENOENT"});
         }},
        {"unlink: removes a file",
         [](Stage& stage) {
           const Folder folder;
           const std::string path = folder.write("a", "");
           stage.call("unlink", {.kind = Kind::unlink, .memory = path.c_str()});
           stage.run();
           CHECK(stage.log == Log{"unlink: 0"});
           CHECK_FALSE(folder.has("a"));
         }},
        {"unlink: removes an empty folder where that is asked for, and only then",
         [](Stage& stage) {
           const Folder folder;
           const std::string path = folder.path("inner");
           CHECK(::mkdir(path.c_str(), 0700) == 0);
           stage.call("file", {.kind = Kind::unlink, .memory = path.c_str()});
           stage.run();
           stage.call("folder", {.kind = Kind::unlink, .memory = path.c_str(), .flags = AT_REMOVEDIR});
           stage.run();
           CHECK(stage.log == Log{"file: EISDIR", "folder: 0"});
         }},
    });

const Behaviours poll_behaviours(
    Under::delays,
    {
        {"poll: says at once what holds",
         [](Stage& stage) {
           const Ends ends = Ends::sockets();
           stage.call("poll", polling(ends[0], POLLIN | POLLOUT));
           stage.run();
           CHECK(stage.log == Log{"poll: " + std::to_string(POLLOUT)});
         }},
        {"poll: waits for data",
         [](Stage& stage) {
           const Ends ends = Ends::sockets();
           stage.call("poll", polling(ends[0], POLLIN));
           later(stage, [&] { ::send(ends[1], "x", 1, 0); });
           stage.run();
           CHECK(stage.log == Log{"poll: " + std::to_string(POLLIN)});
         }},
        {"poll: tells again while the data is there",
         [](Stage& stage) {
           const Ends ends = Ends::sockets();
           ::send(ends[1], "x", 1, 0);
           for (int round = 0; round < 3; ++round) {
             stage.call("poll", polling(ends[0], POLLIN));
             stage.run();
           }
           CHECK(stage.log == Log(3, "poll: " + std::to_string(POLLIN)));
         }},
        {"poll: of both directions by two threads",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           stage.call("read", polling(ends[0], POLLIN));
           stage.call("write", polling(ends[1], POLLOUT));
           later(stage, [&] { static_cast<void>(::write(ends[1], "x", 1)); });
           stage.run();
           CHECK(stage.log == Log{"write: " + std::to_string(POLLOUT), "read: " + std::to_string(POLLIN)});
         }},
        {"poll: says that the peer hung up, though that was not asked for",
         [](Stage& stage) {
           Ends ends = Ends::pipe();
           ends.close(1);
           stage.call("poll", polling(ends[0], POLLIN));
           stage.run();
           CHECK(stage.log == Log{"poll: " + std::to_string(POLLHUP)});
         }},
        {"poll: of a descriptor that is not open is an error",
         [](Stage& stage) {
           stage.call("poll", polling(1'000'000, POLLIN));
           stage.run();
           CHECK(stage.log == Log{"poll: EBADF"});
         }},
        {"poll: a regular file is ready",
         [](Stage& stage) {
           const Folder folder;
           const Plain file = opened(folder.write("a", ""), O_RDWR);
           stage.call("poll", polling(file.get(), POLLIN));
           stage.run();
           CHECK(stage.log == Log{"poll: " + std::to_string(POLLIN)});
         }},
        {"poll: cancelled",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           Handle<> handle = stage.call("poll", polling(ends[0], POLLIN));
           later(stage, [&] { handle.cancel(); });
           stage.run();
           CHECK(stage.log == Log{"poll: cancelled"});
         }},
        {"poll: one of two is cancelled, the other one is told",
         [](Stage& stage) {
           const Ends ends = Ends::pipe();
           Handle<> handle = stage.call("first", polling(ends[0], POLLIN));
           stage.call("second", polling(ends[0], POLLIN));
           later(stage, [&] {
             handle.cancel();
             static_cast<void>(::write(ends[1], "x", 1));
           });
           stage.run();
           CHECK(stage.log.size() == 2);
           CHECK(std::count(stage.log.begin(), stage.log.end(), "second: 1") == 1);
         }},
        {"poll: a descriptor that its owner closes and another that gets its number",
         [](Stage& stage) {
           for (int round = 0; round < 4; ++round) {
             Ends ends = Ends::pipe();
             stage.call("poll", polling(ends[0], POLLIN));
             later(stage, [&] { static_cast<void>(::write(ends[1], "x", 1)); });
             stage.run();
           }
           CHECK(stage.log == Log(4, "poll: " + std::to_string(POLLIN)));
         }},
        {"poll: a cancelled one does not disturb who gets the number next",
         [](Stage& stage) {
           for (int round = 0; round < 4; ++round) {
             Ends ends = Ends::pipe();
             Handle<> handle = stage.call("poll", polling(ends[0], POLLIN));
             later(stage, [&] { handle.cancel(); });
             stage.run();
             const Plain copy(::dup(ends[0]));  // keeps the file alive when the number goes
             ends.close(0);
           }
           CHECK(stage.log == Log(4, "poll: cancelled"));
         }},
    });

}  // namespace
