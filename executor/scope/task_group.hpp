#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <bide/executor/group_wait.hpp>
#include <bide/executor/scope/attached_errors.hpp>
#include <bide/executor/scope/awaitable.hpp>

namespace bide {

/// Threads that belong together: they are cancelled together, and none outlives the group. Made by
/// `with_task_group`, and good until that returns.
class TaskGroup {
 public:
  explicit TaskGroup(GroupScope& scope) : scope_(scope) {}
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Makes a green thread of the task, in this group. A plain call, from the body, from a member, from anyone
  /// who has a reference. In a cancelled group the thread runs to its first wait.
  ///
  /// Returns: a Handle, to await or to cancel the one thread; dropping it is fine. An error of the thread
  ///          reaches the group in any case, and whoever awaits the Handle.
  /// Throws:  QueueFull, as Executor::submit.
  /// Cost:    O(1); beyond the task's own frame a block of the frame pool.
  template <class T>
  Handle<T> submit(Task<T> task, const SubmitOptions& options = {}) {
    GroupScope::Place place;
    Handle<T> handle = scope_.executor().submit(std::move(task), options);
    scope_.add(*handle.thread, place);
    return handle;
  }
  /// The same for `function(arguments...)`, which live in the thread.
  template <class F, class... Arguments>
  auto submit(const SubmitOptions& options, F function, Arguments... arguments) {
    return submit(call_in_thread(options.where, std::move(function), std::move(arguments)...), options);
  }
  /// nullopt where submit throws QueueFull, and the task stays the caller's.
  template <class T>
  std::optional<Handle<T>> try_submit(Task<T>& task, const SubmitOptions& options = {}) {
    GroupScope::Place place;
    std::optional<Handle<T>> handle = scope_.executor().try_submit(task, options);
    if (handle) scope_.add(*handle->thread, place);
    return handle;
  }

  /// Cancels the body and all members, those to come included. A plain call; once is enough.
  void cancel() { scope_.cancel(); }
  /// A wait of a member would throw.
  bool cancelled() const { return scope_.cancelled(); }
  /// Members that have not ended.
  std::size_t size() const { return scope_.size(); }

 private:
  GroupScope& scope_;
};

/// Awaits a task and leaves the result where it is, so that what comes next does not depend on how it ended.
template <class T>
class AwaitEnd {
 public:
  explicit AwaitEnd(TaskAwait<T>& child) : child_(child) {}

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    child_.await_suspend(parent);
  }
  void await_resume() noexcept { std::exchange(child_.child, nullptr)->handle().destroy(); }

 private:
  TaskAwait<T>& child_;
};

/// `co_await with_task_group(body, arguments...)`: calls `body(group, arguments...)`, awaits the task that it
/// returns, then all threads that were submitted to the group meanwhile, and returns what the body returned.
///
///     Task<> both(TaskGroup& group, Address a, Address b) {
///       group.submit(serve(a));
///       group.submit(serve(b));
///       co_return;
///     }
///     co_await with_task_group(both, a, b);
///
/// Suspends: as the body; then until the last member has ended. A cancel, from around or by `group.cancel()`,
///           reaches body and members, and all are waited for.
/// Throws:   the first error in the order in which they came, of a member or of the body: the same object. It
///           cancels all others; their errors are attached to it (attached_errors). Cancelled of a member is
///           none. Cancelled, when a cancel from around has ended the body or a member; an error goes first,
///           and the cancel shows at the next wait. After `group.cancel()` alone a body without a result
///           returns as usual; one that was to return a value and did not throws Cancelled.
/// Order:    while the group waits for its members, they run at the rank of this thread, if theirs is lower.
/// Cost:     a block of the frame pool, and one for each member.
template <class Body, class... Arguments>
auto with_task_group(Body body, Arguments... arguments)
    -> std::invoke_result_t<Body&, TaskGroup&, Arguments...> {
  using Result = Awaited<std::invoke_result_t<Body&, TaskGroup&, Arguments...>>;
  GroupScope scope;
  scope.enter();
  TaskGroup group(scope);
  std::exception_ptr error;
  std::optional<TaskAwait<Result>> run;
  try {
    run.emplace(body(group, std::move(arguments)...), std::source_location::current());
  } catch (...) {
    error = std::current_exception();
  }
  if (run) {
    co_await AwaitEnd<Result>(*run);
    error = run->error();
  }
  const bool ended_by_itself = scope.cancel_requested();
  if (error != nullptr) {
    scope.fail(error);
    scope.cancel();
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  scope.close();
  if (error != nullptr) {  // a Cancelled
    if constexpr (std::is_void_v<Result>) {
      if (ended_by_itself && running.thread->cancelled == 0) co_return;
    }
    std::rethrow_exception(error);
  }
  co_return run->take();
}

}  // namespace bide
