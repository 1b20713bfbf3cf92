#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <bide/executor/scope/task_group.hpp>

namespace bide {

/// What `when_any` returns: who was first, and with what. `auto [index, value] = ...` takes these two.
template <class Value>
class FirstOf {
 public:
  FirstOf(std::size_t winner, Value of_winner) : index(winner), value(std::move(of_winner)) {}

  std::size_t index;
  Value value;
  /// Of those that were cancelled and then failed, in the order in which they came. Most often empty.
  std::vector<std::exception_ptr> errors;

  template <std::size_t place>
  auto&& get() & {
    if constexpr (place == 0)
      return index;
    else
      return value;
  }
  template <std::size_t place>
  auto&& get() const& {
    if constexpr (place == 0)
      return index;
    else
      return value;
  }
  template <std::size_t place>
  auto&& get() && {
    if constexpr (place == 0)
      return std::move(index);
    else
      return std::move(value);
  }
};

/// The first of some threads to end. Value: of the winner.
template <class Value>
class Race {
 public:
  explicit Race(GroupScope& scope) : scope_(scope) {}

  template <class... Arguments>
  void finished(std::size_t index, Arguments&&... value) {
    if (over_) return;
    result_.emplace(index, Value(std::forward<Arguments>(value)...));
    over_ = true;
    scope_.cancel();
  }
  void failed() { over_ = true; }  // the group hears of the error

  /// When all have ended. Throws: the error, if that was first; Cancelled, if all were cancelled.
  FirstOf<Value> take() {
    if (!result_) {
      scope_.close();
      throw Cancelled();
    }
    result_->errors = scope_.errors();
    scope_.leave();
    return std::move(*result_);
  }

 private:
  GroupScope& scope_;
  bool over_ = false;
  std::optional<FirstOf<Value>> result_;
};

/// One runner; `in_place` says where its value goes in Value.
template <class Value, class T, class... InPlace>
Task<> run_race(Race<Value>& race, std::size_t index, Task<T> task, InPlace... in_place) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(task);
      race.finished(index, in_place...);
    } else {
      race.finished(index, in_place..., co_await std::move(task));
    }
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    race.failed();
    throw;
  }
}

template <std::size_t... indices, class... Ts>
Task<FirstOf<std::variant<ResultValue<Ts>...>>> first_of_tasks(std::index_sequence<indices...>,
                                                               Task<Ts>... tasks) {
  GroupScope scope;
  scope.enter();
  TaskGroup group(scope);
  Race<std::variant<ResultValue<Ts>...>> race(scope);
  try {
    (group.submit(run_race(race, indices, std::move(tasks), std::in_place_index<indices>)), ...);
  } catch (...) {
    race.failed();
    scope.fail(std::current_exception());
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  co_return race.take();
}

/// `auto [index, value] = co_await when_any(task_a, task_b)`: runs each in a green thread of its own; the
/// first to end with a result or an error wins. The others are cancelled and waited for, and what they return
/// is destroyed: to take from one of several channels without loss there is `select`.
///
/// Each argument is a Task or another awaitable. `value` is a std::variant with a place for each argument,
/// void as std::monostate, a reference as std::reference_wrapper.
///
/// Suspends: until the last has ended. Cancellation point: a cancel from around reaches all; one that has a
///           result all the same wins.
/// Order:    threads are submitted in the order of the arguments; of two that end at one instant, the one that
///           ran first wins.
/// Throws:   the winner's error, the same object, with the errors of the others attached (attached_errors);
///           beside a result they are in `errors`. Cancelled when a cancel has ended all. QueueFull.
/// Cost:     a block of the frame pool; and for each argument a thread and two other blocks.
template <class... Awaitables>
requires(sizeof...(Awaitables) > 0) auto when_any(Awaitables&&... awaitables) {
  return first_of_tasks(std::index_sequence_for<Awaitables...>(),
                        to_task(std::forward<Awaitables>(awaitables))...);
}

/// As `when_any`, for any number of one kind: `value` is the winner's. Requires: at least one.
template <class T>
Task<FirstOf<ResultValue<T>>> when_any(std::vector<Task<T>> tasks) {
  refuse_bound_to_thread<T>();
  require(!tasks.empty(), "when_any of nothing");
  GroupScope scope;
  scope.enter();
  TaskGroup group(scope);
  Race<ResultValue<T>> race(scope);
  try {
    for (std::size_t index = 0; index < tasks.size(); ++index) {
      group.submit(run_race(race, index, std::move(tasks[index])));
    }
  } catch (...) {
    race.failed();
    scope.fail(std::current_exception());
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  co_return race.take();
}

}  // namespace bide

template <class Value>
struct std::tuple_size<bide::FirstOf<Value>> : std::integral_constant<std::size_t, 2> {};
template <class Value>
struct std::tuple_element<0, bide::FirstOf<Value>> {
  using type = std::size_t;
};
template <class Value>
struct std::tuple_element<1, bide::FirstOf<Value>> {
  using type = Value;
};
