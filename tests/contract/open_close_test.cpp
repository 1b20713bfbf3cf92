#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

// Single opens and closes.

using namespace bide;
using namespace bide::test;
using Kind = Operation::Kind;

namespace {

Request opening(const std::string& path, int flags, std::uint32_t permissions = 0) {
  return {.kind = Kind::open,
          .memory = path.c_str(),
          .flags = static_cast<std::uint32_t>(flags),
          .permissions = permissions};
}

const Behaviours open_behaviours(
    Under::delays,
    {
        {"open: gives a descriptor that is close-on-exec",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder.write("a", "content");
           std::int64_t result = -1;
           stage.submit([&]() -> Task<> { result = co_await RawCall(opening(path, O_RDONLY)); });
           stage.run();
           REQUIRE(result >= 0);
           const Plain file(static_cast<int>(result));
           CHECK((::fcntl(file.get(), F_GETFD) & FD_CLOEXEC) != 0);
         }},
        {"open: what is not there is an error",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder / "none";
           stage.call("open", opening(path, O_RDONLY));
           stage.run();
           CHECK(stage.log == Log{"open: ENOENT"});
         }},
        {"open: makes a file with the permissions",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder / "new";
           std::int64_t result = -1;
           stage.submit(
               [&]() -> Task<> { result = co_await RawCall(opening(path, O_WRONLY | O_CREAT, 0600)); });
           stage.run();
           REQUIRE(result >= 0);
           const Plain file(static_cast<int>(result));
           struct stat about {};
           CHECK(::fstat(file.get(), &about) == 0);
           CHECK((about.st_mode & 0777U) == 0600);
         }},
        {"open: exclusively what is there is an error",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder.write("a", "");
           stage.call("open", opening(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
           stage.run();
           CHECK(stage.log == Log{"open: EEXIST"});
         }},
        {"open: a folder for writing is an error",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder / "";
           stage.call("open", opening(path, O_WRONLY));
           stage.run();
           CHECK(stage.log == Log{"open: EISDIR"});
         }},
        {"open: a hundred under cancel leave no descriptor behind",
         [](Stage& stage) {
           const TemporaryFolder folder;
           const std::string path = folder.write("a", "");
           stage.call("warm up", {.kind = Kind::sync, .descriptor = opened(path, O_RDONLY).get()});
           stage.run();
           const int before = descriptor_count();
           int delivered = 0;
           std::vector<Handle<>> handles;
           for (int number = 0; number < 100; ++number) {
             handles.push_back(stage.submit([&]() -> Task<> {
               const std::int64_t result = co_await RawCall(opening(path, O_RDONLY));
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

const Behaviours close_behaviours(
    Under::delays, {
                       {"close: a file is closed",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          const int file = opened(folder.write("a", ""), O_RDONLY).release();
                          stage.call("close", {.kind = Kind::close, .descriptor = file});
                          stage.run();
                          CHECK(stage.log == Log{"close: 0"});
                          CHECK(::fcntl(file, F_GETFD) == -1);
                        }},
                       {"close: a socket is closed, and the peer sees the end",
                        [](Stage& stage) {
                          TcpEnds ends;
                          stage.call("close", {.kind = Kind::close, .descriptor = ends.client.release()});
                          stage.run();
                          char byte = 0;
                          CHECK(::recv(ends.server.get(), &byte, 1, 0) == 0);
                        }},
                       {"close: a pipe is closed",
                        [](Stage& stage) {
                          const Ends ends = Ends::pipe();
                          stage.call("close", {.kind = Kind::close, .descriptor = ::dup(ends[0])});
                          stage.run();
                          CHECK(stage.log == Log{"close: 0"});
                        }},
                       {"close: what is not open is an error",
                        [](Stage& stage) {
                          stage.call("close", {.kind = Kind::close, .descriptor = 1'000'000});
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
                            stage.call("close", {.kind = Kind::close, .descriptor = ::dup(number)});
                            stage.run();
                            driver_of(stage.executor).closing(number);
                          }
                          CHECK(stage.log.size() == 10);
                          CHECK(std::count(stage.log.begin(), stage.log.end(), "receive: 1") == 5);
                        }},
                   });

}  // namespace
