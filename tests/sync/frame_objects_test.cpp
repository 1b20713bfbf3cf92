#include <catch2/catch.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/group_wait.hpp>
#include <bide/executor/scope/outcome.hpp>
#include <bide/executor/scope/shielded.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/scope/when_all.hpp>
#include <bide/executor/scope/when_any.hpp>
#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/condition_variable.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>
#include <bide/executor/sync/semaphore.hpp>
#include <bide/executor/sync/shared_mutex.hpp>
#include <bide/tests/executor/timeline.hpp>

// What lives in the frame of whoever awaits must be such as g++ 12 compiles: no alignment beyond that of operator
// new, which it does not honour in a frame, and no aggregate, whose owning members it destroys twice in the full
// expression of a co_await.

namespace {

using namespace bide;
using namespace std::chrono_literals;
using bide::test::Timeline;
using bide::test::virtual_time;

template <class T>
constexpr bool may_live_in_frame = alignof(T) <= alignof(std::max_align_t) &&
                                   (!std::is_aggregate_v<T> || std::is_trivially_destructible_v<T>);

template <class... Ts>
constexpr bool all_may_live_in_frame = (may_live_in_frame<Ts> && ...);

using Text = std::string;

// The core, and what combinators keep. (Z5: GCC PR104177; Z2: PR99576.)
static_assert(all_may_live_in_frame<Sleep, SleepUntil, Yield, Join<Text>, Handle<Text>, Task<Text>,
                                    TaskAwait<Text>, CancelScope, GroupScope, GroupWait, SubmitOptions>);
static_assert(all_may_live_in_frame<decltype(timeout(1s, std::declval<Task<Text>>())),
                                    decltype(try_timeout(1s, std::declval<Task<Text>>())),
                                    decltype(deadline(Instant(), std::declval<Task<Text>>())),
                                    decltype(shielded(std::declval<Task<Text>>())),
                                    decltype(outcome(std::declval<Task<Text>>()))>);
static_assert(
    all_may_live_in_frame<ScopedAwait<TimeLimit, Task<Text>>, ScopedAwait<DeadlineOfWork, Task<Text>>,
                          ScopedAwait<ShieldScope, Task<Text>>, TryTimeoutAwait<Task<Text>>,
                          OutcomeAwait<Task<Text>>, Outcome<Text>, TaskGroup, FirstOf<Text>>);
// The primitives.
static_assert(all_may_live_in_frame<Mutex::Lock, Mutex::Guard, SharedMutex::Lock, SharedMutex::Guard,
                                    Semaphore::Acquire, Event::Wait, Latch::Wait, Barrier::Arrival,
                                    RateLimiter::Acquire, ConditionVariable::Notice, SelectSleep>);
static_assert(all_may_live_in_frame<Channel<Text>::Send<Text>, Channel<Text>::Send<Text&&>,
                                    Channel<Text>::Receive, Selected<Text, std::monostate>>);
static_assert(all_may_live_in_frame<decltype(select(receiving(std::declval<Channel<Text>&>()), Sleep(1s)))>);
// Options stand in braces inside a co_await expression, so nothing in them may own.
static_assert(std::is_trivially_destructible_v<SubmitOptions>);
static_assert(std::is_trivially_destructible_v<ExecutorOptions>);
static_assert(std::is_trivially_destructible_v<Rate>);

Task<int> three() { co_return 3; }
Task<int> length(std::shared_ptr<Text> text) {
  co_await Yield();
  co_return static_cast<int>(text->size());
}
Task<int> member(TaskGroup& group, std::shared_ptr<Text> text) {
  Handle<int> inner = group.submit({.name = "inner"}, length, text);
  co_return co_await inner;
}

}  // namespace

// Z2, Z3: callables, options and lists in the most natural way that compiles, each owner destroyed once.
TEST_CASE("Frames: what is passed inside a co_await expression is destroyed once") {
  auto text = std::make_shared<Text>("a text that is too long for the small buffer");
  const int size = static_cast<int>(text->size());
  std::vector<int> got;
  {
    Executor executor(virtual_time);
    executor.submit({}, [&]() -> Task<> {
      got.push_back(co_await submit({.name = "by function", .priority = Priority::high}, length, text));
      got.push_back(co_await submit(length(text), {.name = "by task"}));
      got.push_back(co_await with_task_group(member, text));
      got.push_back(co_await timeout(1s, length(text)));
      got.push_back(co_await shielded(length(text)));
      got.push_back((co_await outcome(length(text))).value());
      got.push_back(std::get<0>(co_await when_all(length(text), three())));
      std::vector<Task<int>> tasks;
      tasks.push_back(length(text));
      tasks.push_back(length(text));
      for (const int each : co_await when_all(std::move(tasks))) got.push_back(each);
      Channel<std::shared_ptr<Text>> channel(1);
      co_await channel.send(text);
      got.push_back(static_cast<int>((*co_await channel.receive())->size()));
      const auto first = co_await select(receiving(channel), sending(channel, text));
      got.push_back(first.index == 1 ? size : 0);
    });
    executor.run();
  }
  CHECK(got == std::vector<int>(11, size));
  CHECK(text.use_count() == 1);
}

// Siblings of Z2: the same one inside the other, as one expression, and results that own.
TEST_CASE("Frames: combinators and arms inside one another are destroyed once") {
  auto text = std::make_shared<Text>("a text that is too long for the small buffer");
  const int size = static_cast<int>(text->size());
  std::vector<int> got;
  {
    Executor executor(virtual_time);
    executor.submit({}, [&]() -> Task<> {
      using Shared = std::shared_ptr<Text>;
      Channel<Shared> channel(2);
      Mutex mutex;
      const auto owner = [](Shared shared) -> Task<Shared> {
        co_await Yield();
        co_return shared;
      };
      got.push_back((co_await shielded(timeout(1s, outcome(timeout(1s, length(text)))))).value());
      got.push_back(std::get<0>((co_await when_any(length(text), timeout(1s, length(text)))).value));
      got.push_back(std::get<1>((co_await when_any_success(shielded(Sleep(1s)), length(text))).value));
      co_await timeout(1s, channel.send(text));
      const auto received = co_await try_timeout(1s, select(receiving(channel), Sleep(1s)));
      got.push_back(static_cast<int>((*std::get<0>(received->value))->size()));
      co_await when_all(channel.send(text), timeout(1s, channel.send(Shared(text))));
      const auto [first, second] = co_await when_all(channel.receive(), timeout(1s, channel.receive()));
      got.push_back(static_cast<int>((*first)->size()));
      got.push_back(static_cast<int>((*second)->size()));
      std::vector<Task<Shared>> tasks;
      tasks.push_back(owner(text));
      tasks.push_back(owner(std::move(*first)));
      for (Outcome<Shared>& each : co_await when_all_settled(std::move(tasks))) {
        got.push_back(static_cast<int>(each.value()->size()));
      }
      (co_await timeout(1s, mutex.lock())).unlock();
      const auto selected = co_await timeout(1s, select([&] { return mutex.lock(); }, receiving(channel)));
      got.push_back(selected.index == 0 && mutex.locked() ? size : 0);
      got.push_back(static_cast<int>((co_await timeout(1s, submit(owner(text))))->size()));
      got.push_back(static_cast<int>((co_await deadline(now() + 1s, with_task_group(member, text)))));
    });
    executor.run();
  }
  CHECK(got == std::vector<int>(11, size));
  CHECK(text.use_count() == 1);
}
