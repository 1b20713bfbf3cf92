#pragma once

#include <cstddef>
#include <cstdint>
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

/// How a race is won: by an end of any kind, or by a result alone.
enum class WonBy : std::uint8_t { end, result };

/// The first of some threads to end. Value: of the winner.
template <class Value>
class Race {
 public:
  Race(GroupScope& scope, WonBy won_by) : scope_(scope), won_by_(won_by) {}

  template <class... Arguments>
  void finished(std::size_t index, Arguments&&... value) {
    if (over_) return;
    result_.emplace(index, Value(std::forward<Arguments>(value)...));
    over_ = true;
    scope_.cancel();
  }
  /// Returns: true when the group has to hear of the error.
  bool failed(std::exception_ptr error) {
    if (won_by_ == WonBy::result) {
      errors_.push_back(std::move(error));
      return false;
    }
    over_ = true;
    return true;
  }
  /// One could not be made.
  void refused(std::exception_ptr error) {
    over_ = true;
    scope_.refused(std::move(error));
  }

  /// When all have ended. Throws: the first error, if that ended it or nothing else came; Cancelled, if all were
  /// cancelled.
  FirstOf<Value> take() {
    if (!result_) {
      for (std::exception_ptr& error : errors_) scope_.refused(std::move(error));
      scope_.close();
      throw Cancelled();
    }
    if (won_by_ == WonBy::result) {
      result_->errors = std::move(errors_);
    } else {
      result_->errors = scope_.errors();
    }
    scope_.leave();
    return std::move(*result_);
  }

 private:
  GroupScope& scope_;
  WonBy won_by_;
  bool over_ = false;
  std::vector<std::exception_ptr> errors_;  // that did not end it
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
    if (race.failed(std::current_exception())) throw;
  }
}

template <std::size_t... indices, class... Ts>
Task<FirstOf<std::variant<ResultValue<Ts>...>>> first_of_tasks(WonBy won_by, std::index_sequence<indices...>,
                                                               Task<Ts>... tasks) {
  GroupScope scope;
  scope.enter();
  TaskGroup group(scope);
  Race<std::variant<ResultValue<Ts>...>> race(scope, won_by);
  try {
    (group.submit(run_race(race, indices, std::move(tasks), std::in_place_index<indices>)), ...);
  } catch (...) {
    race.refused(std::current_exception());
  }
  while (scope.size() != 0) co_await GroupWait(scope);
  co_return race.take();
}

template <class T>
Task<FirstOf<ResultValue<T>>> first_of_vector(WonBy won_by, std::vector<Task<T>> tasks) {
  refuse_bound_to_thread<T>();
  require(!tasks.empty(), "when_any of nothing");
  GroupScope scope;
  scope.enter();
  TaskGroup group(scope);
  Race<ResultValue<T>> race(scope, won_by);
  try {
    for (std::size_t index = 0; index < tasks.size(); ++index) {
      group.submit(run_race(race, index, std::move(tasks[index])));
    }
  } catch (...) {
    race.refused(std::current_exception());
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
  return first_of_tasks(WonBy::end, std::index_sequence_for<Awaitables...>(),
                        to_task(std::forward<Awaitables>(awaitables))...);
}

/// As `when_any`, for any number of one kind: `value` is the winner's. Requires: at least one.
template <class T>
auto when_any(std::vector<Task<T>> tasks) {
  return first_of_vector(WonBy::end, std::move(tasks));
}

/// As `when_any`, but an error does not win and cancels nothing: the first result does.
///
/// Throws:   when none has a result, the first error, with those of the others attached; beside a result all errors
///           are in `errors`. An error goes before a cancel from around, which shows at the next wait then.
///           Cancelled when that has ended all. QueueFull.
template <class... Awaitables>
requires(sizeof...(Awaitables) > 0) auto when_any_success(Awaitables&&... awaitables) {
  return first_of_tasks(WonBy::result, std::index_sequence_for<Awaitables...>(),
                        to_task(std::forward<Awaitables>(awaitables))...);
}
/// The same for any number of one kind. Requires: at least one.
template <class T>
auto when_any_success(std::vector<Task<T>> tasks) {
  return first_of_vector(WonBy::result, std::move(tasks));
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
