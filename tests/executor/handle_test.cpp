#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <bide/executor/executor.hpp>

#include "timeline.hpp"

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::at_now;
using bide::test::AtExit;
using bide::test::Timeline;
using bide::test::virtual_time;

Task<int> value_after(Duration duration, int value) {
  co_await Sleep(duration);
  co_return value;
}
Task<std::unique_ptr<int>> owned() { co_return std::make_unique<int>(5); }
Task<int&> refer_to(int& here) { co_return here; }
Task<> sleeps(Duration duration) { co_await Sleep(duration); }
Task<int> fails_after(Duration duration) {
  co_await Sleep(duration);
  throw std::runtime_error("failed");
}

Task<> joins(Timeline& timeline, Handle<int> handle) {
  const int value = co_await handle;
  timeline.push_back(at_now("got " + std::to_string(value)));
}

TEST_CASE("Handle: an await waits for the thread and gives its value") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(joins(timeline, executor.submit(value_after(5ms, 1))));
  executor.submit(joins(timeline, executor.submit(value_after(3ms, 2))));
  executor.run();
  CHECK(timeline == Timeline{"got 2@3", "got 1@5"});
}

Task<> joins_ended(Timeline& timeline) {
  Handle<int> handle = submit(value_after(1ms, 7));
  timeline.push_back(handle.done() ? "done" : "not done");
  co_await Sleep(2ms);
  timeline.push_back(handle.done() ? "done" : "not done");
  submit(joins(timeline, submit(value_after(0ms, 8))));
  const int value = co_await std::move(handle);  // does not suspend
  timeline.push_back("got " + std::to_string(value));
}

TEST_CASE("Handle: the await of an ended thread goes on at once") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(joins_ended(timeline));
  executor.run();
  CHECK(timeline == Timeline{"not done", "done", "got 7", "got 8@2"});
}

TEST_CASE("Handle: the result can be taken after the run, of whatever kind it is") {
  int here = 3;
  Executor executor(virtual_time);
  Handle<int> number = executor.submit(value_after(1ms, 4));
  Handle<std::unique_ptr<int>> pointer = executor.submit(owned());
  Handle<int&> reference = executor.submit(refer_to(here));
  Handle<> nothing = executor.submit(sleeps(1h));
  executor.run();
  CHECK(number.take() == 4);
  CHECK(*pointer.take() == 5);
  CHECK(&reference.take() == &here);
  nothing.take();
}

Task<> joins_directly(Timeline& timeline, int& here) {
  const std::unique_ptr<int> pointer = co_await submit(owned());
  int& reference = co_await submit(refer_to(here));
  reference += *pointer;
  const std::string text = "an argument that is too long for a small string";
  co_await submit(
      {.name = "child"},
      [&timeline](std::string what) -> Task<> {
        timeline.push_back(what);
        co_return;
      },
      text);
}

TEST_CASE("Handle: of a thread submitted in the same expression") {
  Timeline timeline;
  int here = 1;
  Executor executor(virtual_time);
  executor.submit(joins_directly(timeline, here));
  executor.run();
  CHECK(here == 6);
  CHECK(timeline == Timeline{"an argument that is too long for a small string"});
}

TEST_CASE("Handle: one that is dropped leaves its thread running") {
  Executor executor(virtual_time);
  { const Handle<int> dropped = executor.submit(value_after(5ms, 1)); }
  CHECK(executor.size() == 1);
  CHECK(executor.run().now == Instant(5ms));
}

Task<> catches(Timeline& timeline, Handle<int> handle) {
  std::string what;
  try {
    co_await handle;
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  timeline.push_back(at_now("caught " + what));
}

TEST_CASE("Handle: the thread's exception leaves the await, and not the run") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(catches(timeline, executor.submit(fails_after(2ms))));
  executor.submit(sleeps(5ms));
  const RunReport report = executor.run();
  CHECK(timeline == Timeline{"caught failed@2"});
  CHECK(report.errors.empty());
  CHECK(report.now == Instant(5ms));
}

TEST_CASE("Handle: an error waits in it until it is taken") {
  Executor executor(virtual_time);
  Handle<int> handle = executor.submit(fails_after(2ms));
  Handle<int> moved = std::move(handle);
  executor.submit(sleeps(5ms));
  CHECK(executor.run().now == Instant(5ms));  // somebody might still take it
  std::vector<Handle<int>> handles;
  handles.push_back(std::move(moved));
  CHECK(handles[0].done());
  CHECK_THROWS_WITH(handles[0].take(), "failed");
  handles.clear();
  CHECK(executor.run().errors.empty());
}

TEST_CASE("Handle: an error that is dropped with it reaches run") {
  Executor executor(virtual_time);
  {
    Handle<int> handle = executor.submit(fails_after(2ms));
    executor.run();
    const Handle<int> moved = std::move(handle);
  }
  CHECK_THROWS_WITH(executor.run(), "failed");
  CHECK(executor.report().errors.size() == 1);
  executor.submit(sleeps(1ms));
  CHECK(executor.run().errors.empty());
}

Task<> drops(Handle<int> handle) {
  co_await Sleep(3ms);
  static_cast<void>(handle.id());
}

TEST_CASE("Handle: an error that a thread drops with it ends the run like that of a detached thread") {
  Executor executor(virtual_time);
  executor.submit(drops(executor.submit(fails_after(2ms))));
  Handle<> other = executor.submit(sleeps(5ms));
  CHECK_THROWS_WITH(executor.run(), "failed");
  CHECK(executor.now() == Instant(3ms));
  CHECK_THROWS_AS(other.take(), Cancelled);
}

TEST_CASE("Handle: moving it keeps the thread, before and after its end") {
  Executor executor(virtual_time);
  Handle<int> first = executor.submit(value_after(1ms, 1));
  Handle<int> second = executor.submit(value_after(2ms, 2));
  const std::uint64_t id = second.id();
  first = std::move(second);  // detaches thread 1
  CHECK(first.id() == id);
  CHECK_FALSE(second.done());  // NOLINT: a moved-from Handle is one of no thread
  second.cancel();             // NOLINT
  executor.run();
  Handle<int> last = std::move(first);
  CHECK(last.done());
  CHECK(last.take() == 2);
}

TEST_CASE("Handle: it outlives its executor, and sees a thread that was destroyed as Cancelled") {
  std::optional<Handle<int>> alive;
  std::optional<Handle<int>> ended;
  std::optional<Handle<int>> failed;
  {
    Executor executor(virtual_time);
    alive = executor.submit(value_after(5ms, 1));
    ended = executor.submit(value_after(1ms, 2));
    failed = executor.submit(fails_after(1ms));
    executor.run_for(2ms);
  }
  CHECK(alive->done());
  alive->cancel();
  CHECK_THROWS_AS(alive->take(), Cancelled);
  CHECK(ended->take() == 2);
  CHECK_THROWS_WITH(failed->take(), "failed");
}

Task<> tells_how_it_ended(Handle<int>& handle, Timeline& timeline) {
  try {
    timeline.push_back(at_now(std::to_string(co_await handle)));
  } catch (const Cancelled&) {
    timeline.push_back(at_now("cancelled"));
  }
}

TEST_CASE("Handle: a thread of another executor that waits for it is told when its own executor goes") {
  Timeline timeline;
  Executor outer(virtual_time);
  std::optional<Executor> inner(virtual_time);
  Handle<int> ends = inner->submit(value_after(1ms, 1));
  Handle<int> goes = inner->submit(value_after(5ms, 2));
  outer.submit(tells_how_it_ended(ends, timeline));
  outer.submit(tells_how_it_ended(goes, timeline));
  outer.run_for(3ms);
  inner->run_for(2ms);
  inner.reset();
  outer.run();
  CHECK(timeline == Timeline{"1@3", "cancelled@3"});
}

Task<int> cancelled_itself(std::optional<Handle<int>>& own, Timeline& timeline) {
  own->cancel();
  timeline.push_back(own->done() ? "done" : "still running");
  co_await Sleep(1ms);
  co_return 1;
}

TEST_CASE("Handle: a thread cancels itself through its own") {
  Timeline timeline;
  std::optional<Handle<int>> own;
  Executor executor(virtual_time);
  own = executor.submit(cancelled_itself(own, timeline));
  executor.run();
  CHECK(timeline == Timeline{"still running"});
  CHECK_THROWS_AS(own->take(), Cancelled);
  CHECK(executor.now() == Instant());
}

// The value is in the Handle by then, and the thread has not ended: its locals are being destroyed.
enum class Deed { drop, move };
Task<int> disposes_of_its_own(std::unique_ptr<Handle<int>>& own, std::unique_ptr<Handle<int>>& other,
                              Deed deed) {
  const AtExit at_exit([&own, &other, deed] {
    if (deed == Deed::move) other = std::make_unique<Handle<int>>(std::move(*own));
    own.reset();
  });
  co_return 6;
}

TEST_CASE("Handle: a thread drops or moves its own while it ends") {
  for (const Deed deed : {Deed::drop, Deed::move}) {
    std::unique_ptr<Handle<int>> own;
    std::unique_ptr<Handle<int>> other;
    Executor executor(virtual_time);
    own = std::make_unique<Handle<int>>(executor.submit(disposes_of_its_own(own, other, deed)));
    executor.run();
    CHECK(own == nullptr);
    CHECK((other != nullptr) == (deed == Deed::move));
    if (other != nullptr) CHECK(other->take() == 6);
  }
}

}  // namespace
