// What a change of rank meets on its way: timers, circles, and waits that have just succeeded.

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/scope/task_group.hpp>
#include <bide/executor/scope/timeout.hpp>
#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/rate_limiter.hpp>
#include <bide/executor/sync/select.hpp>

using namespace bide;
using namespace std::chrono_literals;

namespace {

constexpr ExecutorOptions virtual_time{.time = TimeMode::virtual_time};
constexpr SubmitOptions low{.priority = Priority::low};
constexpr SubmitOptions high{.priority = Priority::high};

using Instants = std::vector<Instant>;

Task<> take_all(RateLimiter& limiter) { co_await limiter.acquire(10); }

Task<> lock_and_acquire(Mutex& mutex, RateLimiter& limiter, Instants& times) {
  Mutex::Guard guard = co_await mutex.lock();
  co_await limiter.acquire(10);
  times.push_back(now());
}

Task<> acquire_one(RateLimiter& limiter, Instants& times) {
  co_await Sleep(3s);
  co_await limiter.acquire(1);
  times.push_back(now());
}

Task<> lock_for(Mutex& mutex, Duration longest) {
  co_await Sleep(1s);
  co_await try_timeout(longest, mutex.lock());
}

}  // namespace

TEST_CASE("Rank: a waiter of a limiter that comes to the front finds its tokens, and time goes on") {
  Executor executor(virtual_time);
  Mutex mutex;
  RateLimiter limiter(Rate(1), 10);
  Instants times;
  executor.submit(take_all(limiter));
  executor.submit(lock_and_acquire(mutex, limiter, times), low);
  executor.submit(acquire_one(limiter, times));
  executor.submit(lock_for(mutex, 4s), high);  // gives up at 5 s: who holds the mutex is low again
  executor.run();
  CHECK(times == Instants{Instant(5s + 1ns), Instant(11s)});
}

namespace {

Task<> lock_both(Mutex& first, Mutex& second) {
  Mutex::Guard one = co_await first.lock();
  co_await Sleep(1s);
  Mutex::Guard two = co_await second.lock();
}

}  // namespace

TEST_CASE("Rank: a latest start that went round a circle outlives the thread whose it was") {
  Executor executor(virtual_time);
  Mutex first;
  Mutex second;
  executor.submit(lock_both(first, second));
  executor.submit(lock_both(second, first));
  executor.run_for(2s);
  for (int i = 0; i < 3; ++i) {
    executor.submit(lock_for(first, 2s), {.deadline_in = 10s});
    executor.run_for(5s);
  }
  CHECK(executor.size() == 2);
}

namespace {

Task<> select_in_circle(Handle<>& joined, Mutex& own, Mutex& other, std::string& seen) {
  Mutex::Guard guard = co_await own.lock();
  co_await Sleep(1s);
  const auto lock = [&other] { return other.lock(); };
  auto selected = co_await select(joining(joined), lock);
  seen = "arm " + std::to_string(selected.index);
}

Task<> sleep_for(Duration duration) { co_await Sleep(duration); }
Task<> lock_once(Mutex& mutex) { Mutex::Guard guard = co_await mutex.lock(); }

}  // namespace

TEST_CASE("Rank: a join in a select ends in a circle that has an inherited class") {
  Executor executor(virtual_time);
  Mutex own;
  Mutex other;
  std::string seen;
  Handle<> joined = executor.submit(sleep_for(5s), low);
  executor.submit(select_in_circle(joined, own, other, seen), low);
  executor.submit(lock_both(other, own), low);
  executor.run_for(2s);
  Handle<> passing = executor.submit(lock_once(other), high);
  executor.run_for(1s);
  passing.cancel();
  executor.run();
  CHECK(seen == "arm 0");
}

namespace {

Task<> nest(TaskGroup& group, int depth) {
  if (depth > 0)
    group.submit(with_task_group(nest, depth - 1));
  else
    group.submit(sleep_for(1h));
  co_return;
}

Task<> join(Handle<>& handle) { co_await handle; }

}  // namespace

TEST_CASE("Rank: it goes down a hundred thousand groups in groups, and needs no stack") {
  Executor executor(virtual_time);
  Handle<> outermost = executor.submit(with_task_group(nest, 100'000));
  executor.run_for(1ms);
  executor.submit(join(outermost), high);
  CHECK(executor.run().now == Instant(1h));
}

namespace {

Task<> lock_and_end(Mutex& mutex) { Mutex::Guard guard = co_await mutex.lock(); }

Task<> crowd(TaskGroup& group, Mutex& mutex, int count) {
  for (int i = 0; i < count; ++i) group.submit(lock_and_end(mutex));
  co_return;
}

Task<> hold(Mutex& mutex) {
  Mutex::Guard guard = co_await mutex.lock();
  co_await Sleep(1h);
}

}  // namespace

TEST_CASE("Rank: a class for many that wait for one mutex is no work for each and all of them") {
  Executor executor(virtual_time);
  Mutex mutex;
  executor.submit(hold(mutex), low);
  Handle<> group = executor.submit(
      with_task_group([&mutex](TaskGroup& members) -> Task<> { co_await crowd(members, mutex, 30'000); }));
  executor.run_for(1ms);
  executor.submit(join(group), high);
  CHECK(executor.run().now == Instant(1h));
}
