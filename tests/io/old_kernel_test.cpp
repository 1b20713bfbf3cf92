#include <chrono>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "changed_ring.hpp"
#include "uring_request.hpp"

// What a kernel without requests that repeat makes of those that the driver tries.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

struct OldKernel {
  OldKernel() { changed_ring::without_multishot = true; }
  ~OldKernel() { changed_ring::without_multishot = false; }
  OldKernel(const OldKernel&) = delete;
  OldKernel& operator=(const OldKernel&) = delete;
};

TEST_CASE("UringDriver: where polls can't repeat, each post wakes it all the same, and then it rests") {
  const OldKernel old;
  UringExecutor uring;
  int ran = 0;
  const Poster poster = uring.executor.poster();
  std::thread other([&poster, &ran] {
    for (int post = 0; post < 3; ++post) {
      std::this_thread::sleep_for(5ms);
      poster.post([&ran] { ++ran; });
    }
  });
  uring.executor.submit(sleeps(100ms));
  uring.executor.run();
  other.join();
  CHECK(ran == 3);
  CHECK(uring.statistics().wakes >= 3);
  CHECK(uring.statistics().enters < 20);
}

TEST_CASE("UringDriver: where accepts and receives can't repeat, each gives one result and ends") {
  const OldKernel old;
  UringExecutor uring;
  const Listener listener;
  Repeating accept(Kind::accept, listener.descriptor);
  uring.driver().start(accept);
  const int client = listener.connect();
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
  REQUIRE(accept.results.size() == 1);
  CHECK(accept.ended);
  const int server = static_cast<int>(accept.results[0]);
  REQUIRE(server >= 0);
  Repeating receive(Kind::receive, server);
  receive.takes_buffer = true;
  uring.driver().start(receive);
  CHECK(::send(client, "abc", 3, 0) == 3);
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
  CHECK(receive.results == std::vector<std::int64_t>{3});
  CHECK(receive.ended);
  CHECK(uring.statistics().fallbacks == 2);
  CHECK(uring.driver().in_flight() == 0);
  uring.driver().give_back(receive.buffer);
  ::close(server);
  ::close(client);
}

}  // namespace
