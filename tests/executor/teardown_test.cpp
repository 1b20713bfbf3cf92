#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "gate.hpp"
#include "timeline.hpp"

// What the end of an executor does to the threads that are left: every frame goes, whatever its thread was
// doing and whatever the destructors in it do.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::AtExit;
using bide::test::Counted;
using bide::test::Gate;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<> nothing() { co_return; }

enum class End { not_started, ready, sleeping, waiting, joining, cancelled };
constexpr End ends[] = {End::not_started, End::ready,   End::sleeping,
                        End::waiting,     End::joining, End::cancelled};

Task<> waits(End end, Gate& gate) {
  switch (end) {
    case End::not_started:
      break;
    case End::ready:
      for (;;) co_await Yield();
    case End::sleeping:
      co_await Sleep(1h);
      break;
    case End::waiting:
      co_await gate.pass();
      break;
    case End::joining: {
      Handle<> handle = submit({}, []() -> Task<> { co_await Sleep(1h); });
      co_await handle;
      break;
    }
    case End::cancelled:
      for (;;) {
        try {
          co_await Sleep(1h);
        } catch (const Cancelled&) {
        }
        co_await gate.pass();
      }
  }
}
Task<> counted(Counted, int& alive, int depth, End end, Gate& gate) {
  const Counted local(alive);
  const std::string text = "a text that is too long for a small string";
  if (depth > 0) {
    co_await counted(Counted(alive), alive, depth - 1, end, gate);
  } else {
    co_await waits(end, gate);
  }
}

TEST_CASE("Teardown: every frame is destroyed, whatever its thread was doing") {
  for (const End end : ends) {
    CAPTURE(static_cast<int>(end));
    int alive = 0;
    Gate gate;
    {
      Executor executor(virtual_time);
      std::vector<Handle<>> handles;
      for (int depth = 0; depth < 3; ++depth) {
        handles.push_back(executor.submit(counted(Counted(alive), alive, depth, end, gate)));
      }
      if (end != End::not_started) {
        for (int i = 0; i < 3; ++i) executor.run_one();
      }
      if (end == End::cancelled) handles[0].cancel();
      CHECK(alive > 0);
    }
    CHECK(alive == 0);
    CHECK(gate.waiting_count() == 0);
  }
}

Task<> tells(Timeline& timeline, std::string name, int depth) {
  const AtExit at_exit([&timeline, name, depth] { timeline.push_back(name + std::to_string(depth)); });
  if (depth < 2) {
    co_await tells(timeline, name, depth + 1);
  } else {
    co_await Sleep(1h);
  }
}

TEST_CASE("Teardown: the youngest thread goes first, each from its innermost frame outwards") {
  Timeline timeline;
  {
    Executor executor(virtual_time);
    executor.submit(tells(timeline, "a", 0), {.priority = Priority::low});
    executor.submit(tells(timeline, "b", 1), {.priority = Priority::critical});
    executor.submit(tells(timeline, "c", 2));
    executor.run_for(1ms);
  }
  CHECK(timeline == Timeline{"c2", "b2", "b1", "a2", "a1", "a0"});
}

Task<> at_exit_sleeps(Timeline& timeline, std::string name, std::function<void()> deed, Gate& gate) {
  const AtExit at_exit([&timeline, &name, &deed] {
    timeline.push_back(name);
    deed();
  });
  co_await gate.pass();
}

TEST_CASE("Teardown: destructors that submit, post, cancel, open and stop change nothing any more") {
  Timeline timeline;
  Gate gate;
  std::optional<Handle<>> first;
  std::optional<Handle<>> last;
  const auto note = [&timeline](bool yes, const std::string& what) {
    timeline.push_back(what + (yes ? " yes" : " no"));
  };
  {
    Executor executor(virtual_time);
    first = executor.submit(at_exit_sleeps(
        timeline, "first", [] {}, gate));
    executor.submit(at_exit_sleeps(
        timeline, "submit",
        [&] {
          bool refused = false;
          try {
            executor.submit(nothing());
          } catch (const QueueFull&) {
            refused = true;
          }
          note(refused, "refused");
        },
        gate));
    executor.submit(at_exit_sleeps(
        timeline, "try_submit",
        [&] {
          Task<> task = nothing();
          note(executor.try_submit(task).has_value(), "admitted");
        },
        gate));
    executor.submit(at_exit_sleeps(
        timeline, "post",
        [&] {
          int alive = 0;
          const bool taken = executor.post([counted = Counted(alive)] { static_cast<void>(counted); });
          note(taken, "taken");
          note(alive == 0, "dropped");
        },
        gate));
    executor.submit(at_exit_sleeps(
        timeline, "cancel",
        [&] {
          first->cancel();
          last->cancel();
          note(first->done(), "done");
          note(last->done(), "done");
        },
        gate));
    executor.submit(at_exit_sleeps(
        timeline, "open", [&] { gate.open(); }, gate));
    executor.submit(at_exit_sleeps(
        timeline, "stop", [&] { executor.stop(); }, gate));
    last = executor.submit(at_exit_sleeps(
        timeline, "last", [] {}, gate));
    executor.run_for(1ms);
  }
  CHECK(timeline == Timeline{"last", "stop", "open", "cancel", "done no", "done yes", "post", "taken no",
                             "dropped yes", "try_submit", "admitted no", "submit", "refused yes", "first"});
  CHECK_THROWS_AS(first->take(), Cancelled);
  CHECK(gate.withdrawn == 8);  // each once
}

Task<> owns_threads(Counted, int& alive) {
  std::vector<Handle<>> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(submit(
        {}, [](Counted) -> Task<> { co_await Sleep(1h); }, Counted(alive)));
  }
  const AtExit cancel_all([&children] {
    for (Handle<>& child : children) child.cancel();
  });
  co_await Sleep(2h);
}

Task<> cancels_at_exit(Handle<> older) {
  const AtExit cancel([&older] { older.cancel(); });
  co_await Sleep(2h);
}

// corosio 07fab88, zeroc-ice/ice #6022: destroying a frame removed timers from the list being iterated.
TEST_CASE("Teardown: frames that own and cancel other sleeping threads") {
  int alive = 0;
  {
    Executor executor(virtual_time);
    for (int i = 0; i < 3; ++i) executor.submit(owns_threads(Counted(alive), alive));
    executor.submit(cancels_at_exit(executor.submit(cancels_at_exit(executor.submit(nothing())))));
    executor.run_for(1ms);
    CHECK(alive >= 12);
  }
  CHECK(alive == 0);
}

TEST_CASE("Teardown: posts that have not run are dropped, each once") {
  int alive = 0;
  int ran = 0;
  {
    Executor executor(virtual_time);
    const Poster poster = executor.poster();
    poster.post([counted = Counted(alive), &ran] { static_cast<void>(counted), ++ran; });
    executor.post([counted = Counted(alive), &ran] { static_cast<void>(counted), ++ran; });
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
  CHECK(ran == 0);
}

TEST_CASE("Teardown: of a finished thread's value and of a tree of unstarted tasks") {
  int alive = 0;
  Gate gate;
  {
    Executor executor(virtual_time);
    Handle<Counted> value = executor.submit({}, [&alive]() -> Task<Counted> { co_return Counted(alive); });
    executor.submit(
        {},
        [](Task<> inner) -> Task<> {
          co_await Sleep(1h);
          co_await std::move(inner);
        },
        counted(Counted(alive), alive, 0, End::ready, gate));
    executor.run_for(1ms);
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
}

TEST_CASE("Teardown: of an executor that was made and never used") {
  for (int i = 0; i < 1000; ++i) {
    const Executor executor(virtual_time);
    CHECK(executor.size() == 0);
  }
}

}  // namespace
