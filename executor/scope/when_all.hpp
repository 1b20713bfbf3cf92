#pragma once

#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <bide/executor/scope/outcome.hpp>
#include <bide/executor/scope/task_group.hpp>

namespace bide {

/// What `when_all` makes of its threads: their results, or the first error.
struct TakeValues {
  static constexpr GroupScope::CancelsOn cancels_on = GroupScope::CancelsOn::error_or_cancel;
  template <class T>
  using One = ResultValue<T>;
  template <class T>
  using Vector = std::conditional_t<std::is_void_v<T>, void, std::vector<ResultValue<T>>>;

  template <class T>
  static ResultValue<T> take(Handle<T>& ended) {
    if constexpr (std::is_void_v<T>) {
      ended.take();
      return {};
    } else {
      return ended.take();
    }
  }
};

/// What `when_all_settled` makes of its threads: the result or the error of each. A Cancelled is an error here.
struct TakeOutcomes {
  static constexpr GroupScope::CancelsOn cancels_on = GroupScope::CancelsOn::nothing;
  template <class T>
  using One = Outcome<T>;
  template <class T>
  using Vector = std::vector<Outcome<T>>;

  template <class T>
  static Outcome<T> take(Handle<T>& ended) {
    if (ended.state() == ResultSlot::State::failed) return Outcome<T>(ended.error());
    if constexpr (std::is_void_v<T>) {
      ended.take();
      return Outcome<T>(std::in_place);
    } else {
      return Outcome<T>(std::in_place, ended.take());
    }
  }
};

template <class Take, class... Ts>
Task<std::tuple<typename Take::template One<Ts>...>> all_of_tasks(Task<Ts>... tasks) {
  GroupScope scope(Take::cancels_on);
  scope.enter();
  TaskGroup group(scope);
  std::optional<std::tuple<Handle<Ts>...>> handles;
  try {
    handles.emplace(std::tuple<Handle<Ts>...>{group.submit(std::move(tasks))...});
  } catch (...) {
    scope.refused(std::current_exception());
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  scope.close();
  co_return std::apply(
      [](Handle<Ts>&... each) { return std::tuple<typename Take::template One<Ts>...>{Take::take(each)...}; },
      *handles);
}

template <class Take, class T>
Task<typename Take::template Vector<T>> all_of_vector(std::vector<Task<T>> tasks) {
  refuse_bound_to_thread<T>();
  GroupScope scope(Take::cancels_on);
  scope.enter();
  TaskGroup group(scope);
  std::vector<Handle<T>> handles;
  try {
    handles.reserve(tasks.size());
    for (Task<T>& task : tasks) handles.push_back(group.submit(std::move(task)));
  } catch (...) {
    scope.refused(std::current_exception());
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  scope.close();
  if constexpr (std::is_void_v<typename Take::template Vector<T>>) {
    for (Handle<T>& handle : handles) Take::take(handle);
  } else {
    typename Take::template Vector<T> all;
    all.reserve(handles.size());
    for (Handle<T>& handle : handles) all.push_back(Take::take(handle));
    co_return all;
  }
}

/// `auto [a, b] = co_await when_all(task_a, task_b)`: runs each in a green thread of its own, and returns all
/// results when all have ended.
///
/// Each argument is a Task or another awaitable; a result of void counts as std::monostate, a reference as
/// std::reference_wrapper. The threads are submitted in the order of the arguments.
///
/// Suspends: until the last has ended. Cancellation point: a cancel reaches all, and they are waited for;
///           results that have all come in the instant of the cancel are returned, and the next wait throws.
/// Order:    of results as of the arguments; while this thread waits, the others run at its rank if theirs is
///           lower.
/// Throws:   the first error; it cancels the others, which are waited for; their errors are attached to it
///           (attached_errors). Cancelled when one ended by a cancel, which cancels the others too.
///           QueueFull. What has not failed by then is destroyed: use when_all_settled to have each.
/// Cost:     a block of the frame pool; and for each argument a thread and another block.
template <class... Awaitables>
auto when_all(Awaitables&&... awaitables) {
  return all_of_tasks<TakeValues>(to_task(std::forward<Awaitables>(awaitables))...);
}

/// As `when_all`, for any number: a std::vector of the results in the order of the tasks, nothing for tasks
/// without a result. None at all are done at once.
template <class T>
auto when_all(std::vector<Task<T>> tasks) {
  return all_of_vector<TakeValues>(std::move(tasks));
}

/// `auto [a, b] = co_await when_all_settled(task_a, task_b)`: as `when_all`, but an error cancels nothing and
/// is not thrown: each result is an Outcome.
///
/// Suspends: until the last has ended. A cancel from around reaches all of them; what each then made of it is
///           in the outcomes, a Cancelled as an error, and nothing that was done is lost: the cancel shows at
///           the next wait.
/// Throws:   QueueFull, when those that were let in have been cancelled and have ended.
template <class... Awaitables>
auto when_all_settled(Awaitables&&... awaitables) {
  return all_of_tasks<TakeOutcomes>(to_task(std::forward<Awaitables>(awaitables))...);
}

/// As `when_all_settled`, for any number: a std::vector of the outcomes in the order of the tasks.
template <class T>
auto when_all_settled(std::vector<Task<T>> tasks) {
  return all_of_vector<TakeOutcomes>(std::move(tasks));
}

}  // namespace bide
