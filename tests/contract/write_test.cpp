#include <poll.h>
#include <sys/uio.h>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

// Single writes, and vectors of parts in both directions.

using namespace bide;
using namespace bide::test;
using Kind = Operation::Kind;

namespace {

Request vector(Kind kind, int descriptor, std::span<const iovec> parts,
               std::uint64_t offset = Operation::current_offset) {
  return {.kind = kind,
          .descriptor = descriptor,
          .memory = parts.data(),
          .length = parts.size(),
          .offset = offset};
}
iovec part(std::string& text) { return {text.data(), text.size()}; }

const Behaviours write_behaviours(Under::delays,
                                  {
                                      {"write: at an offset changes what is there, and no more",
                                       [](Stage& stage) {
                                         const TemporaryFolder folder;
                                         const Plain file = opened(folder.write("a", "0123456789"), O_RDWR);
                                         stage.call("write", writing(file.get(), "xyz", 4));
                                         stage.run();
                                         CHECK(stage.log == Log{"write: 3"});
                                         CHECK(content_of(folder / "a") == "0123xyz789");
                                       }},
                                      {"write: beyond the end leaves zeros between",
                                       [](Stage& stage) {
                                         const TemporaryFolder folder;
                                         const Plain file = opened(folder.write("a", "ab"), O_RDWR);
                                         stage.call("write", writing(file.get(), "z", 4));
                                         stage.run();
                                         CHECK(content_of(folder / "a") == std::string("ab\0\0z", 5));
                                       }},
                                      {"write: to what is open for reading is an error",
                                       [](Stage& stage) {
                                         const TemporaryFolder folder;
                                         const Plain file = opened(folder.write("a", ""), O_RDONLY);
                                         stage.call("write", writing(file.get(), "x", 0));
                                         stage.run();
                                         CHECK(stage.log == Log{"write: EBADF"});
                                       }},
                                      {"write: without an offset appends where the file was opened so",
                                       [](Stage& stage) {
                                         const TemporaryFolder folder;
                                         const Plain file =
                                             opened(folder.write("a", "one"), O_WRONLY | O_APPEND);
                                         stage.call("write", writing(file.get(), "two"));
                                         stage.run();
                                         CHECK(content_of(folder / "a") == "onetwo");
                                       }},
                                      {"write: of much is done whole, or says how much",
                                       [](Stage& stage) {
                                         const TemporaryFolder folder;
                                         const Plain file = opened(folder / "a", O_WRONLY | O_CREAT);
                                         const std::string much(5 << 20, 'y');
                                         stage.call("write", writing(file.get(), much, 0));
                                         stage.run();
                                         CHECK(stage.log == Log{"write: " + std::to_string(much.size())});
                                         CHECK(content_of(folder / "a") == much);
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
                          const TemporaryFolder folder;
                          const Plain file = opened(folder / "a", O_RDWR | O_CREAT);
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
                          const TemporaryFolder folder;
                          const Plain file = opened(folder / "a", O_RDWR | O_CREAT);
                          std::string text = "ab";
                          const std::vector<iovec> parts(1024, part(text));
                          stage.call("write", vector(Kind::write_vector, file.get(), parts, 0));
                          stage.run();
                          CHECK(stage.log == Log{"write: 2048"});
                        }},
                       {"write_vector: more parts than there may be are an error",
                        [](Stage& stage) {
                          const TemporaryFolder folder;
                          const Plain file = opened(folder / "a", O_RDWR | O_CREAT);
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
                          const TemporaryFolder folder;
                          const Plain file = opened(folder.write("a", "abc"), O_RDONLY);
                          stage.call("read", vector(Kind::read_vector, file.get(), {}, 0));
                          stage.run();
                          CHECK(stage.log == Log{"read: 0"});
                        }},
                   });

}  // namespace
