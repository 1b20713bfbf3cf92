#include "core_cases.hpp"

#include <array>
#include <memory>

#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/sync/channel.hpp>
#include <bide/executor/sync/event.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/tests/random.hpp>
#include <bide/timers/timer_list.hpp>

namespace bide::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t threads = 100;  // that share the work, where a case wants a queue

Task<> yields(std::int64_t count) {
  for (; count > 0; --count) co_await Yield();
}
void yield(Executor& executor, std::int64_t count) {
  for (std::int64_t i = 0; i < threads; ++i) {
    executor.submit(yields(count / threads), {.priority = static_cast<Priority>(i % 4)});
  }
}

Task<std::int64_t> child(std::int64_t value) { co_return value; }
Task<> awaits(std::int64_t count) {
  std::int64_t sum = 0;
  for (; count > 0; --count) sum += co_await child(count);
  if (sum < 0) co_await Yield();
}
void await(Executor& executor, std::int64_t count) { executor.submit(awaits(count)); }

Task<> nothing() { co_return; }
Task<> submits(std::int64_t count) {
  for (std::int64_t i = 1; i <= count; ++i) {
    submit(nothing());
    if (i % threads == 0) co_await Yield();
  }
}
void submit_run(Executor& executor, std::int64_t count) { executor.submit(submits(count)); }

Task<> submits_and_joins(std::int64_t count) {
  for (; count > 0; --count) {
    Handle<> handle = submit(nothing());
    co_await handle;
  }
}
void submit_join(Executor& executor, std::int64_t count) { executor.submit(submits_and_joins(count)); }

struct Repost {
  Executor& executor;
  std::int64_t left;

  void operator()() const {
    if (left > 0) executor.post(Repost{executor, left - 1}, static_cast<Priority>(left % 4));
  }
};
Task<> posts(std::int64_t count) {
  Executor& executor = Executor::current();
  for (std::int64_t i = 0; i < threads; ++i) executor.post(Repost{executor, count / threads});
  co_return;
}
void post(Executor& executor, std::int64_t count) { executor.submit(posts(count)); }

Task<> sleeps(std::uint64_t seed, std::int64_t count) {
  test::Random random(seed);
  for (; count > 0; --count) co_await Sleep(Duration(1 + static_cast<std::int64_t>(random.below(1'000'000))));
}
void sleep(Executor& executor, std::int64_t count) {
  for (std::int64_t i = 0; i < threads; ++i)
    executor.submit(sleeps(static_cast<std::uint64_t>(i), count / threads));
}

Task<> arms_and_cancels(std::int64_t count) {
  test::Random random(1);
  TimerList timers;
  std::array<Timer, 1000> waiting;
  for (Timer& timer : waiting)
    timers.arm(timer, Instant(Duration(static_cast<std::int64_t>(random.below(1000)))));
  Timer timer;
  for (; count > 0; --count) {
    timers.arm(timer, Instant(Duration(static_cast<std::int64_t>(random.below(1000)))));
    timers.cancel(timer);
  }
  timers.clear();
  co_return;
}
void timer_arm_cancel(Executor& executor, std::int64_t count) { executor.submit(arms_and_cancels(count)); }

Task<> plays_ball(std::shared_ptr<std::array<Event, 2>> events, std::size_t mine, std::int64_t count) {
  for (; count > 0; --count) {
    co_await (*events)[mine].wait();
    (*events)[mine].reset();
    (*events)[1 - mine].set();
  }
}
void event(Executor& executor, std::int64_t count) {
  auto events = std::make_shared<std::array<Event, 2>>();
  executor.submit(plays_ball(events, 0, count / 2));
  executor.submit(plays_ball(events, 1, count / 2));
  (*events)[0].set();
}

using Items = std::shared_ptr<Channel<std::int64_t>>;
Task<> sends(Items items, std::int64_t count) {
  for (; count > 0; --count) co_await items->send(count);
  items->close();
}
Task<> receives(Items items) {
  while (auto item = co_await items->receive()) {
  }
}
void through(std::size_t capacity, Executor& executor, std::int64_t count) {
  auto items = std::make_shared<Channel<std::int64_t>>(capacity);
  executor.submit(receives(items));
  executor.submit(sends(items, count));
}
void channel_0(Executor& executor, std::int64_t count) { through(0, executor, count); }
void channel_1024(Executor& executor, std::int64_t count) { through(1024, executor, count); }

Task<> locks(std::shared_ptr<Mutex> mutex, std::int64_t count) {
  for (; count > 0; --count) {
    const Mutex::Guard guard = co_await mutex->lock();
    co_await Yield();  // so that the other has to wait
  }
}
void mutex(Executor& executor, std::int64_t count) {
  auto shared = std::make_shared<Mutex>();
  executor.submit(locks(shared, count / 2));
  executor.submit(locks(shared, count / 2));
}

Task<> awaits_within_a_limit(std::int64_t count) {
  std::int64_t sum = 0;
  for (; count > 0; --count) sum += co_await timeout(1h, child(count));
  if (sum < 0) co_await Yield();
}
void timeout_not_fired(Executor& executor, std::int64_t count) {
  executor.submit(awaits_within_a_limit(count));
}

Task<> submits_to_group(TaskGroup& group) {
  for (std::int64_t i = 0; i < threads; ++i) group.submit(nothing());
  co_return;
}
Task<> runs_groups(std::int64_t count) {
  for (; count > 0; count -= threads) co_await with_task_group(submits_to_group);
}
void group(Executor& executor, std::int64_t count) { executor.submit(runs_groups(count)); }

constexpr auto all = std::to_array<CoreCase>({
    {"yield", yield},
    {"await", await},
    {"submit_run", submit_run},
    {"submit_join", submit_join},
    {"post", post},
    {"sleep", sleep},
    {"timer_arm_cancel", timer_arm_cancel},
    {"event", event},
    {"channel_0", channel_0},
    {"channel_1024", channel_1024},
    {"mutex", mutex},
    {"timeout", timeout_not_fired},
    {"group", group},
});

}  // namespace

std::span<const CoreCase> core_cases() { return all; }

}  // namespace bide::bench
