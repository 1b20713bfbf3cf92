#include <memory>

#include <catch2/catch.hpp>

#include "descriptor_count.hpp"
#include "uring_request.hpp"

// Many rings, and what they leave.

using namespace bide;
using namespace bide::test;
using namespace bide::test::uring;

namespace {

TEST_CASE("UringDriver: a thousand executors one after another work, and leave no descriptor") {
  const int before = descriptor_count();
  std::int64_t worked = 0;
  for (int i = 0; i < 1000; ++i) {
    UringExecutor uring;
    if (works(uring)) ++worked;
  }
  CHECK(worked == 1000);
  CHECK(descriptor_count() == before);
}

Task<> sends(int to, Results& results) {
  char byte = 'x';
  results.push_back(co_await Request(Kind::send, {.descriptor = to, .memory = &byte, .length = 1}));
}

TEST_CASE("UringDriver: a registered descriptor is let go when its number is closed and used again") {
  UringExecutor uring({.registered_descriptors = 64});
  Results results;
  for (int turn = 0; turn < 100; ++turn) {
    Ends ends(socket_ends(), &uring.driver());
    uring.executor.submit(receives(ends.first, results));
    uring.executor.submit(sends(ends.second, results));
    uring.executor.run();
    char byte = 0;
    ends.close(ends.first);
    CHECK(::recv(ends.second, &byte, 1, MSG_DONTWAIT) == 0);  // nothing holds the other end open
  }
  CHECK(results == Results(200, 1));
}

TEST_CASE("UringDriver: twenty on one OS thread work side by side") {
  std::vector<std::unique_ptr<UringExecutor>> all;
  for (int i = 0; i < 20; ++i) all.push_back(std::make_unique<UringExecutor>());
  for (const auto& one : all) CHECK(works(*one));
}

}  // namespace
