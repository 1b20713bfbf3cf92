#include <catch2/catch.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <bide/executor/executor.hpp>

#include "death.hpp"
#include "timeline.hpp"

namespace {

using namespace bide;
using bide::test::AtExit;
using bide::test::Counted;
using bide::test::Death;
using bide::test::death_of;
using bide::test::result_of;
using bide::test::Timeline;
using bide::test::virtual_time;

// No over-aligned type may live in a coroutine frame: compilers do not honour it there.
static_assert(alignof(GreenThread) <= alignof(std::max_align_t));
static_assert(alignof(TaskPromise<int>) <= alignof(std::max_align_t));
static_assert(alignof(Join<int>) <= alignof(std::max_align_t));
static_assert(alignof(TaskAwait<int>) <= alignof(std::max_align_t));

static_assert(!std::is_copy_constructible_v<Task<>>);
static_assert(std::is_nothrow_move_constructible_v<Task<int>>);
static_assert(!std::is_copy_constructible_v<Handle<>>);

struct Failure {
  int code;
};

struct NotDefault {
  explicit NotDefault(int with) : value(with) {}
  int value;
};

struct ThrowsWhenMade {
  explicit ThrowsWhenMade(int) {}
  ThrowsWhenMade(ThrowsWhenMade&&) { throw Failure{7}; }
};

Task<int> answer() { co_return 42; }
Task<std::unique_ptr<int>> owned(int value) { co_return std::make_unique<int>(value); }
Task<int&> refer_to(int& value) { co_return value; }
Task<const std::string&> refer_to_const(const std::string& value) { co_return value; }
Task<std::string> converted() { co_return "from a literal"; }
Task<std::optional<int>> none() { co_return std::nullopt; }
Task<NotDefault> not_default() { co_return NotDefault(3); }
Task<std::pair<int, std::string>> braced() { co_return {1, "one"}; }
Task<ThrowsWhenMade> made_with_error() {
  ThrowsWhenMade value(1);
  co_return std::move(value);
}

// Every frame but the innermost just awaits. `thrown` is where the exception object lives.
Task<int> fail_at(int depth, const Failure*& thrown) {
  if (depth > 1) {
    const int below = co_await fail_at(depth - 1, thrown);
    co_return below;
  }
  try {
    throw Failure{99};
  } catch (const Failure& failure) {
    thrown = &failure;
    throw;
  }
}

Task<> throw_int() {
  throw 5;
  co_return;
}

Task<bool> same_object_arrives(int depth) {
  const Failure* thrown = nullptr;
  const Failure* caught = nullptr;
  int code = 0;
  try {
    co_await fail_at(depth, thrown);
  } catch (const Failure& failure) {
    caught = &failure;
    code = failure.code;
  }
  co_return caught != nullptr&& caught == thrown&& code == 99;
}

TEST_CASE("Task: the value arrives, of whatever kind it is") {
  CHECK(result_of(answer()) == 42);
  CHECK(*result_of(owned(7)) == 7);
  CHECK(result_of(converted()) == "from a literal");
  CHECK(result_of(none()) == std::nullopt);
  CHECK(result_of(not_default()).value == 3);
  CHECK(result_of(braced()).second == "one");
  int here = 1;
  CHECK(&result_of(refer_to(here)) == &here);
  const std::string text = "text";
  CHECK(&result_of(refer_to_const(text)) == &text);
}

Task<int> awaits_every_kind(int& here) {
  const int value = co_await answer();
  std::unique_ptr<int> pointer = co_await owned(8);
  int& reference = co_await refer_to(here);
  reference += value + *pointer;
  const std::string text = co_await converted();
  co_return static_cast<int>(text.size()) + co_await answer() + co_await answer();
}

TEST_CASE("Task: a child's value arrives in its parent, of whatever kind it is") {
  int here = 1;
  CHECK(result_of(awaits_every_kind(here)) == 14 + 84);
  CHECK(here == 51);
}

Task<> say(Timeline& timeline, std::string what) {
  timeline.push_back(what);
  co_return;
}
Task<> awaits_child(Timeline& timeline) {
  timeline.push_back("parent begins");
  co_await say(timeline, "child");
  timeline.push_back("parent goes on");
}

TEST_CASE("Task: a child runs at once, in its parent's turn") {
  Timeline timeline;
  Executor executor(virtual_time);
  executor.submit(awaits_child(timeline));
  executor.submit(say(timeline, "other thread"));
  CHECK(timeline.empty());  // nothing of a body runs before
  CHECK(executor.run().resumes == 2);
  CHECK(timeline == Timeline{"parent begins", "child", "parent goes on", "other thread"});
}

TEST_CASE("Task: an exception reaches the awaiter as the same object, from any depth") {
  for (const int depth : {1, 2, 100, 10'000}) {
    CAPTURE(depth);
    CHECK(result_of(same_object_arrives(depth)));
  }
}

TEST_CASE("Task: what is thrown need not be a std::exception") {
  CHECK_THROWS_AS(result_of(throw_int()), int);
  CHECK_THROWS_AS(result_of(made_with_error()), Failure);
}

Task<> unwinds(Timeline& timeline, int depth) {
  const AtExit leave([&timeline, depth] { timeline.push_back("leave " + std::to_string(depth)); });
  if (depth == 0) throw std::runtime_error("innermost");
  co_await unwinds(timeline, depth - 1);
  timeline.push_back("not reached");
}
Task<> catches(Timeline& timeline) {
  std::string what;
  try {
    co_await unwinds(timeline, 2);
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  timeline.push_back("caught " + what);
  co_await say(timeline, "an await after the catch");
}

TEST_CASE("Task: an exception unwinds from the innermost frame outwards, and the catcher awaits again") {
  Timeline timeline;
  result_of(catches(timeline));
  CHECK(timeline ==
        Timeline{"leave 0", "leave 1", "leave 2", "caught innermost", "an await after the catch"});
}

Task<> holds(Counted, int& begun) {
  ++begun;
  co_return;
}

TEST_CASE("Task: one that is dropped before it ran destroys its arguments and runs nothing") {
  int alive = 0;
  int begun = 0;
  {
    Task<> dropped = holds(Counted(alive), begun);
    Task<> moved = std::move(dropped);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
  Task<> one = holds(Counted(alive), begun);
  one = holds(Counted(alive), begun);
  result_of(std::move(one));
  CHECK(begun == 1);
}

TEST_CASE("Task: arguments live until the task has ended, and no longer than its await") {
  int alive = 0;
  int begun = 0;
  result_of(holds(Counted(alive), begun));
  CHECK(begun == 1);
  CHECK(alive == 0);
}

Task<> awaits_twice() {
  Task<int> task = answer();
  co_await std::move(task);
  co_await std::move(task);
}

TEST_CASE("Task: awaiting or submitting it twice ends the process with a message") {
  const Death awaited = death_of([] { result_of(awaits_twice()); });
  CHECK(awaited.aborted);
  CHECK_THAT(awaited.said, Catch::Contains("awaited or submitted twice"));
  const Death submitted = death_of([] {
    Executor executor(virtual_time);
    Task<int> task = answer();
    executor.submit(std::move(task));
    executor.submit(std::move(task));
  });
  CHECK(submitted.aborted);
  CHECK_THAT(submitted.said, Catch::Contains("awaited or submitted twice"));
}

}  // namespace
