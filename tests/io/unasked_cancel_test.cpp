#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "changed_ring.hpp"
#include "uring_request.hpp"

// Cancels that nobody asked for.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;
using namespace std::chrono_literals;

namespace {

void settle(UringExecutor& uring) {
  uring.executor.submit(sleeps(2ms));
  uring.executor.run();
}

// Behind the driver's back.
void cancel_unasked(UringExecutor& uring, Operation& operation) {
  io_uring_sqe* const request = io_uring_get_sqe(changed_ring::last_made);
  io_uring_prep_cancel64(request, reinterpret_cast<std::uintptr_t>(&operation), 0);
  request->user_data = 1;  // as of the driver's own: their answers are passed over
  settle(uring);
}

TEST_CASE("UringDriver: an operation that the kernel cancels unasked is started over, once") {
  for (const bool repeats : {false, true}) {
    INFO((repeats ? "that repeats" : "once"));
    UringExecutor uring;
    const Ends ends(socket_ends());
    Repeating receive(Kind::receive, ends.first);
    receive.takes_buffer = true;
    receive.repeats = repeats;
    uring.driver().start(receive);
    settle(uring);
    cancel_unasked(uring, receive);
    CHECK(receive.results.empty());
    CHECK(uring.statistics().repeats_ended == (repeats ? 1 : 0));
    if (repeats) {
      CHECK(::send(ends.second, "abc", 3, 0) == 3);
      settle(uring);
      CHECK(receive.results == Results{3});
      uring.driver().give_back(receive.buffer);
      receive.results.clear();
    }
    cancel_unasked(uring, receive);
    CHECK(receive.results == Results{-ECANCELED});
    CHECK(receive.ended);
    CHECK(uring.driver().in_flight() == 0);
  }
}

}  // namespace
