#pragma once

#include <concepts>
#include <coroutine>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <variant>

#include <bide/executor/executor.hpp>

// What timeout, shielded, when_all and the others need to know of the thing they are given: a Task, a Handle,
// a Sleep, or whatever else can stand behind co_await.

namespace bide {

/// How a combinator keeps an awaitable until the await: by value. By reference, if it can't be moved
/// (`mutex.lock()`) or if the caller goes on using it (`handle`): then await the combinator in the expression
/// that makes it.
template <class Awaitable>
using Kept =
    std::conditional_t<!std::is_lvalue_reference_v<Awaitable> && std::is_move_constructible_v<Awaitable>,
                       Awaitable, Awaitable&&>;

/// The awaiter that `co_await awaitable` would use in a task.
template <class Awaitable>
decltype(auto) awaiter_of(Awaitable&& awaitable, std::source_location where) {
  if constexpr (requires { TaskPromiseBase::await_transform(std::forward<Awaitable>(awaitable), where); }) {
    return TaskPromiseBase::await_transform(std::forward<Awaitable>(awaitable), where);
  } else {
    return TaskPromiseBase::await_transform(std::forward<Awaitable>(awaitable));
  }
}

template <class Awaitable>
using AwaiterOf = decltype(awaiter_of(std::declval<Awaitable>(), std::source_location()));

/// What `co_await awaitable` gives: a value, an lvalue reference, or void.
template <class Awaitable>
using Awaited = std::conditional_t<
    std::is_rvalue_reference_v<decltype(std::declval<AwaiterOf<Awaitable>&>().await_resume())>,
    std::remove_reference_t<decltype(std::declval<AwaiterOf<Awaitable>&>().await_resume())>,
    decltype(std::declval<AwaiterOf<Awaitable>&>().await_resume())>;

/// A result as a member of a tuple or variant: monostate for void, a reference_wrapper for a reference.
template <class T>
using ResultValue = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>, T>>;

template <class Awaitable>
Task<Awaited<Awaitable>> await_kept(Kept<Awaitable> kept) {
  co_return co_await std::forward<Awaitable>(kept);
}

/// Combinators that make a thread of each argument refuse what belongs to the thread that got it, a Guard: it
/// would be held by a thread that ends at once.
template <class T>
constexpr void refuse_bound_to_thread() {
  static_assert(
      !requires { typename std::remove_cvref_t<T>::BoundToThread; },
      "this would be held by a thread that ends at once: lock in the thread that goes on");
}

/// The awaitable as a task, for a thread of its own. A Task is one already, and costs nothing more.
template <class T>
Task<T> to_task(Task<T>&& task) {
  refuse_bound_to_thread<T>();
  return std::move(task);
}
template <class Awaitable>
Task<Awaited<Awaitable>> to_task(Awaitable&& awaitable) {
  refuse_bound_to_thread<Awaited<Awaitable>>();
  return await_kept<Awaitable>(std::forward<Awaitable>(awaitable));
}

}  // namespace bide
