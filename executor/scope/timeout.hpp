#pragma once

#include <concepts>
#include <coroutine>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <bide/executor/deadline_scope.hpp>
#include <bide/executor/obligation.hpp>
#include <bide/executor/scope/scoped_await.hpp>
#include <bide/executor/scope/timed_out.hpp>

namespace bide {

/// The scope of a `timeout`: it cancels itself when the time is up.
class TimeLimit : public DeadlineScope {
 public:
  struct Arguments {
    Duration limit;
  };
  TimeLimit(const Arguments& arguments, std::source_location where)
      : DeadlineScope(Instant()), limit_(arguments.limit), where_(where) {}

  void enter() { enter_for(limit_); }

  /// A Cancelled that came out is this scope's own, and not one from around it. Requires: left.
  bool time_is_up() const { return expired() && running.thread->cancelled == 0; }
  void cancelled_out() const {
    if (time_is_up()) throw TimedOut(limit_, where_);
  }

 private:
  Duration limit_;
  std::source_location where_;
};

/// The scope of a `deadline`: a limit of time, and a reason for its threads to hurry.
class DeadlineOfWork : public DeadlineScope {
 public:
  struct Arguments {
    Instant deadline;
    Duration estimate;
  };
  DeadlineOfWork(const Arguments& arguments, std::source_location where);

  void enter();
  void leave() noexcept {
    hurry_.let_go();
    DeadlineScope::leave();
  }
  void cancelled_out() const {
    if (expired() && running.thread->cancelled == 0) throw TimedOut(due(), where_);
  }

 private:
  std::source_location where_;
  Urgency work_;
  Obligation hurry_;  // towards whoever set the deadline
};

/// `co_await timeout(5s, task)`: the result of the task, which has that long.
///
/// When the time is up the task is cancelled, with all that it awaits and the groups in it, and waited for:
/// it is over, cleaned up, before TimedOut arrives. If it ends with a result all the same, the result counts.
///
/// Suspends: as what is awaited; any awaitable will do: `timeout(1s, mutex.lock())`, `timeout(1s, handle)`.
/// Units:    nanoseconds from the await; zero and less: what waits at all has no time; it saturates.
/// Throws:   TimedOut; what the task throws; Cancelled when a cancel comes from around, which is never taken
///           for the end of the time, or hidden by it.
/// Order:    of a limit and an event at one instant, what was armed first.
/// Cost:     one timer; no thread, no allocation.
template <class Awaitable>
Scoped<TimeLimit, Awaitable> timeout(Duration limit, Awaitable&& awaitable,
                                     std::source_location where = std::source_location::current()) {
  return Scoped<TimeLimit, Awaitable>({limit}, std::forward<Awaitable>(awaitable), where);
}

/// `co_await deadline(instant, task)`: as `timeout`, until an instant; and it feeds the order. Inside, this
/// thread and those of groups run at the urgency of work that has to be done by then (queue/urgency.hpp),
/// unless they have an earlier deadline.
///
/// `estimate`: how long the work takes once it runs.
///
/// Suspends: as what is awaited. With an instant that has come, what waits at all has no time.
/// Throws:   TimedOut, and else as `timeout`.
/// Cost:     one timer, and the thread is ranked anew twice; a block of the frame pool, a thread's first time.
template <class Awaitable>
Scoped<DeadlineOfWork, Awaitable> deadline(Instant instant, Awaitable&& awaitable,
                                           Duration estimate = urgency::default_estimate,
                                           std::source_location where = std::source_location::current()) {
  return Scoped<DeadlineOfWork, Awaitable>({instant, estimate}, std::forward<Awaitable>(awaitable), where);
}

/// The await of `try_timeout`.
template <class Awaitable>
class TryTimeoutAwait {
  using Value = Awaited<Awaitable>;

 public:
  using Result = std::conditional_t<std::is_void_v<Value>, bool, std::optional<ResultValue<Value>>>;

  TryTimeoutAwait(Duration limit, Awaitable&& awaitable, std::source_location where)
      : scope_({limit}, where), awaiter_(awaiter_of(std::forward<Awaitable>(awaitable), where)) {}

  bool await_ready() {
    scope_.enter();
    return awaiter_.await_ready();
  }
  template <std::derived_from<Frame> Promise>
  auto await_suspend(std::coroutine_handle<Promise> frame) {
    return awaiter_.await_suspend(frame);
  }
  Result await_resume() {
    try {
      return result();
    } catch (const Cancelled&) {
      scope_.leave();
      if (scope_.time_is_up()) return Result();
      throw;
    }
  }

 private:
  // What throws something else leaves by the destructor of the scope.
  Result result() {
    if constexpr (std::is_void_v<Value>) {
      awaiter_.await_resume();
      scope_.leave();
      return true;
    } else {
      Result result(awaiter_.await_resume());
      scope_.leave();
      return result;
    }
  }

  TimeLimit scope_;
  AwaiterOf<Awaitable> awaiter_;
};

template <class Awaitable>
class [[nodiscard]] TryTimeout {
 public:
  TryTimeout(Duration limit, Awaitable&& awaitable, std::source_location where)
      : limit_(limit), where_(where), awaitable_(std::forward<Awaitable>(awaitable)) {}

  TryTimeoutAwait<Awaitable> operator co_await() && {
    return TryTimeoutAwait<Awaitable>(limit_, std::forward<Awaitable>(awaitable_), where_);
  }

 private:
  Duration limit_;
  std::source_location where_;
  Kept<Awaitable> awaitable_;
};

/// `co_await try_timeout(5s, task)`: as `timeout`, but the end of the time is a value.
///
/// Suspends: as `timeout`: a task that is cut off is waited for.
/// Returns:  std::optional of the result, nullopt when the time was up; for a task without a result, bool.
/// Throws:   what the task throws, a TimedOut of a limit inside it included; Cancelled.
/// Cost:     one timer; no thread, no allocation but the Cancelled that ends the task.
template <class Awaitable>
TryTimeout<Awaitable> try_timeout(Duration limit, Awaitable&& awaitable,
                                  std::source_location where = std::source_location::current()) {
  return TryTimeout<Awaitable>(limit, std::forward<Awaitable>(awaitable), where);
}

}  // namespace bide
