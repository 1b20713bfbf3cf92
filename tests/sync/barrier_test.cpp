#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/tests/executor/timeline.hpp>

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> arrives(Barrier& barrier, Timeline& timeline, const char* name, Duration every, int times) {
  for (int i = 0; i < times; ++i) {
    co_await Sleep(every);
    co_await barrier.arrive_and_wait();
    timeline.push_back(at_now(name));
  }
}

}  // namespace

TEST_CASE("Barrier: lets a group through when all have arrived, again and again") {
  Executor executor(virtual_time);
  Barrier barrier(3);
  Timeline timeline;
  executor.submit(arrives(barrier, timeline, "a", 1ms, 2));
  executor.submit(arrives(barrier, timeline, "b", 2ms, 2));
  executor.submit(arrives(barrier, timeline, "c", 3ms, 2));
  executor.run();
  CHECK(timeline == Timeline{"c@3", "a@3", "b@3", "c@6", "a@6", "b@6"});
  CHECK(barrier.generation() == 2);
}

TEST_CASE("Barrier: a waiter that is cancelled takes its arrival back") {
  Executor executor(virtual_time);
  Barrier barrier(2, "turn");
  Timeline timeline;
  Handle<> first = executor.submit(arrives(barrier, timeline, "first", 1ms, 1));
  executor.run_for(2ms);
  CHECK(executor.report().unfinished.at(0).state == "waits for 1 thread to arrive at barrier \"turn\"");
  first.cancel();
  executor.submit(arrives(barrier, timeline, "second", 1ms, 1));
  executor.run_for(2ms);
  CHECK(timeline.empty());
  executor.submit(arrives(barrier, timeline, "third", 1ms, 1));
  executor.run();
  CHECK(timeline == Timeline{"third@5", "second@5"});
}

TEST_CASE("Barrier: who drops out makes the group smaller, and completes one that waits") {
  Executor executor(virtual_time);
  Barrier barrier(2);
  Timeline timeline;
  executor.submit(arrives(barrier, timeline, "left alone", 1ms, 3));
  executor.submit({}, [&]() -> Task<> {
    co_await Sleep(5ms);
    barrier.arrive_and_drop();
  });
  executor.run();
  CHECK(timeline == Timeline{"left alone@5", "left alone@6", "left alone@7"});
}
