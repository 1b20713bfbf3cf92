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

/// The result of an ended thread, as a member of a tuple.
template <class T>
ResultValue<T> take_value(Handle<T>& handle) {
  if constexpr (std::is_void_v<T>) {
    handle.take();
    return {};
  } else {
    return handle.take();
  }
}

/// The result or the error of an ended thread; a Cancelled counts as an error here.
template <class T>
Outcome<T> take_outcome(Handle<T>& handle) {
  if (handle.state() == ResultSlot::State::failed) return Outcome<T>(handle.error());
  if constexpr (std::is_void_v<T>) {
    handle.take();
    return Outcome<T>(std::in_place);
  } else {
    return Outcome<T>(std::in_place, handle.take());
  }
}

template <class... Ts>
Task<std::tuple<ResultValue<Ts>...>> all_of_tasks(Task<Ts>... tasks) {
  GroupScope scope(GroupScope::CancelsOn::error_or_cancel);
  scope.enter();
  TaskGroup group(scope);
  std::optional<std::tuple<Handle<Ts>...>> handles;
  try {
    handles.emplace(std::tuple<Handle<Ts>...>{group.submit(std::move(tasks))...});
  } catch (...) {
    scope.fail(std::current_exception());
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  scope.close();
  co_return std::apply(
      [](Handle<Ts>&... each) { return std::tuple<ResultValue<Ts>...>{take_value(each)...}; }, *handles);
}

template <class... Ts>
Task<std::tuple<Outcome<Ts>...>> all_of_tasks_settled(Task<Ts>... tasks) {
  GroupScope scope(GroupScope::CancelsOn::nothing);
  scope.enter();
  TaskGroup group(scope);
  std::exception_ptr refused;
  std::optional<std::tuple<Handle<Ts>...>> handles;
  try {
    handles.emplace(std::tuple<Handle<Ts>...>{group.submit(std::move(tasks))...});
  } catch (...) {
    refused = std::current_exception();
    scope.cancel();
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  scope.close();
  if (refused != nullptr) std::rethrow_exception(refused);
  co_return std::apply([](Handle<Ts>&... each) { return std::tuple<Outcome<Ts>...>{take_outcome(each)...}; },
                       *handles);
}

/// `auto [a, b] = co_await when_all(task_a, task_b)`: runs each in a green thread of its own, and returns all
/// results when all have ended.
///
/// Each argument is a Task or another awaitable; a result of void counts as std::monostate, a reference as
/// std::reference_wrapper. The threads are submitted in the order of the arguments.
///
/// Suspends: until the last has ended. A cancel reaches all, and they are waited for.
/// Throws:   the first error; it cancels the others, which are waited for; their errors are attached to it
///           (attached_errors). Cancelled when one ended by a cancel, which cancels the others too.
///           QueueFull. What has not failed by then is destroyed: use when_all_settled to have each.
template <class... Awaitables>
auto when_all(Awaitables&&... awaitables) {
  return all_of_tasks(to_task(std::forward<Awaitables>(awaitables))...);
}

/// As `when_all`, for any number: the results in the order of the tasks. None at all are done at once.
template <class T>
Task<std::conditional_t<std::is_void_v<T>, void, std::vector<ResultValue<T>>>> when_all(
    std::vector<Task<T>> tasks) {
  GroupScope scope(GroupScope::CancelsOn::error_or_cancel);
  scope.enter();
  TaskGroup group(scope);
  std::vector<Handle<T>> handles;
  try {
    handles.reserve(tasks.size());
    for (Task<T>& task : tasks) handles.push_back(group.submit(std::move(task)));
  } catch (...) {
    scope.fail(std::current_exception());
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  scope.close();
  if constexpr (std::is_void_v<T>) {
    for (Handle<T>& handle : handles) handle.take();
  } else {
    std::vector<ResultValue<T>> results;
    results.reserve(handles.size());
    for (Handle<T>& handle : handles) results.push_back(handle.take());
    co_return results;
  }
}

/// `auto [a, b] = co_await when_all_settled(task_a, task_b)`: as `when_all`, but an error cancels nothing and
/// is not thrown: each result is an Outcome.
///
/// A cancel from around reaches all of them; what each then made of it is in the outcomes, a Cancelled as an
/// error, and nothing that was done is lost: the cancel shows at the next wait.
/// Throws: QueueFull.
template <class... Awaitables>
auto when_all_settled(Awaitables&&... awaitables) {
  return all_of_tasks_settled(to_task(std::forward<Awaitables>(awaitables))...);
}

template <class T>
Task<std::vector<Outcome<T>>> when_all_settled(std::vector<Task<T>> tasks) {
  GroupScope scope(GroupScope::CancelsOn::nothing);
  scope.enter();
  TaskGroup group(scope);
  std::exception_ptr refused;
  std::vector<Handle<T>> handles;
  try {
    handles.reserve(tasks.size());
    for (Task<T>& task : tasks) handles.push_back(group.submit(std::move(task)));
  } catch (...) {
    refused = std::current_exception();
    scope.cancel();
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  scope.close();
  if (refused != nullptr) std::rethrow_exception(refused);
  std::vector<Outcome<T>> outcomes;
  outcomes.reserve(handles.size());
  for (Handle<T>& handle : handles) outcomes.push_back(take_outcome(handle));
  co_return outcomes;
}

}  // namespace bide
