#include <poll.h>
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "behaviours.hpp"
#include "plain.hpp"

// Single polls.

using namespace bide;
using namespace bide::test;

namespace {

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
           const TemporaryFolder folder;
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
