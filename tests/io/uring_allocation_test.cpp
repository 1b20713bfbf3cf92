#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>

#include <bide/tests/counted_allocations.hpp>

#include "uring_request.hpp"

// A program of its own, with a global operator new that counts.

namespace {

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;

struct Counted {
  std::array<std::uint64_t, 2> rounds{};
  std::int64_t failures = 0;
};

Task<> receives_one(int from, bool& came) {
  char byte = 0;
  came = co_await Request(Kind::receive, {.descriptor = from, .memory = &byte, .length = 1}) == 1;
}

// What is done twice: the first time warms up, the second must not allocate.
Task<> does_all(Ends& ends, const Listener& listener, Counted& counted) {
  char byte = 'x';
  sockaddr_in address = listener.address;
  for (std::uint64_t& round : counted.rounds) {
    const std::uint64_t before = allocations::count;
    for (int turn = 0; turn < 200; ++turn) {
      bool came = false;
      Handle<> receiver = submit(receives_one(ends.first, came));
      co_await Yield();
      const std::int64_t sent =
          co_await Request(Kind::send, {.descriptor = ends.second, .memory = &byte, .length = 1});
      co_await receiver;
      bool never = false;
      Handle<> cancelled = submit(receives_one(ends.first, never));
      co_await Yield();
      cancelled.cancel();
      while (!cancelled.done()) co_await Yield();
      const std::int64_t again =
          co_await Request(Kind::send, {.descriptor = ends.second, .memory = &byte, .length = 1});
      char got = 0;
      const std::int64_t read =
          co_await Request(Kind::receive, {.descriptor = ends.first, .memory = &got, .length = 1});
      const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const std::int64_t connected = co_await Request(
          Kind::connect, {.descriptor = client, .memory = &address, .length = sizeof address});
      const std::int64_t accepted = co_await Request(Kind::accept, {.descriptor = listener.descriptor});
      static_cast<void>(co_await Request(Kind::close, {.descriptor = client}));
      static_cast<void>(co_await Request(Kind::close, {.descriptor = static_cast<int>(accepted)}));
      if (!came || sent != 1 || again != 1 || read != 1 || connected != 0 || accepted < 0) ++counted.failures;
    }
    round = allocations::count - before;
  }
}

TEST_CASE("UringDriver: no allocation after warm-up for operations and cancels, on each way down") {
  frame_pool.limit_kept_bytes(std::size_t{64} << 20U);  // with AddressSanitizer it is zero
  for (const Way& way : all_ways()) {
    INFO(way.name);
    UringExecutor uring(way.options);
    Ends ends(socket_ends(), &uring.driver());
    const Listener listener(&uring.driver());
    Counted counted;
    uring.executor.submit(does_all(ends, listener, counted));
    uring.executor.run();
    CHECK(counted.failures == 0);
    CHECK(counted.rounds[1] == 0);
  }
}

}  // namespace
