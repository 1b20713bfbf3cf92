#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>
#include <variant>

#include <bide/executor/scope/awaitable.hpp>

namespace bide {

/// How a piece of work ended: with a value, or with an error.
template <class T = void>
class [[nodiscard]] Outcome {
 public:
  template <class... Arguments>
  explicit Outcome(std::in_place_t, Arguments&&... value)
      : state_(std::in_place_index<0>, std::forward<Arguments>(value)...) {}
  explicit Outcome(std::exception_ptr error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  /// The value. Throws: the error, the same object, if there is none.
  std::add_lvalue_reference_t<T> value() & {
    check();
    if constexpr (!std::is_void_v<T>) return std::get<0>(state_);
  }
  std::add_lvalue_reference_t<const T> value() const& {
    check();
    if constexpr (!std::is_void_v<T>) return std::get<0>(state_);
  }
  std::add_rvalue_reference_t<T> value() && {
    check();
    if constexpr (std::is_reference_v<T>) {
      return std::get<0>(state_);
    } else if constexpr (!std::is_void_v<T>) {
      return std::get<0>(std::move(state_));
    }
  }

  /// Null when there is a value.
  std::exception_ptr error() const { return has_value() ? nullptr : std::get<1>(state_); }

 private:
  void check() const {
    if (!has_value()) std::rethrow_exception(std::get<1>(state_));
  }

  std::variant<ResultValue<T>, std::exception_ptr> state_;
};

/// The await of `outcome`.
template <class Awaitable>
class OutcomeAwait {
  using Value = Awaited<Awaitable>;

 public:
  OutcomeAwait(Awaitable&& awaitable, std::source_location where)
      : awaiter_(awaiter_of(std::forward<Awaitable>(awaitable), where)) {}

  bool await_ready() {
    try {
      return awaiter_.await_ready();
    } catch (const Cancelled&) {
      throw;
    } catch (...) {  // a move, of what a channel is to take
      error_ = std::current_exception();
      return true;
    }
  }
  template <std::derived_from<Frame> Promise>
  auto await_suspend(std::coroutine_handle<Promise> frame) {
    return awaiter_.await_suspend(frame);
  }
  Outcome<Value> await_resume() {
    if (error_ != nullptr) return Outcome<Value>(std::move(error_));
    try {
      if constexpr (std::is_void_v<Value>) {
        awaiter_.await_resume();
        return Outcome<Value>(std::in_place);
      } else {
        return Outcome<Value>(std::in_place, awaiter_.await_resume());
      }
    } catch (const Cancelled&) {
      throw;
    } catch (...) {
      return Outcome<Value>(std::current_exception());
    }
  }

 private:
  AwaiterOf<Awaitable> awaiter_;
  std::exception_ptr error_;
};

template <class Awaitable>
class [[nodiscard]] OutcomeOf {
 public:
  OutcomeOf(Awaitable&& awaitable, std::source_location where)
      : where_(where), awaitable_(std::forward<Awaitable>(awaitable)) {}

  OutcomeAwait<Awaitable> operator co_await() && {
    return OutcomeAwait<Awaitable>(std::forward<Awaitable>(awaitable_), where_);
  }

 private:
  std::source_location where_;
  Kept<Awaitable> awaitable_;
};

/// `co_await outcome(task)`: its value or its error, as an Outcome. For a Task, a Handle, any awaitable.
///
/// Suspends: as what is awaited. Cancellation point: as that.
/// Throws:   Cancelled, and nothing else: a cancel is no outcome to look at, it passes through.
/// Cost:     nothing beside what is awaited; no allocation.
template <class Awaitable>
OutcomeOf<Awaitable> outcome(Awaitable&& awaitable,
                             std::source_location where = std::source_location::current()) {
  return OutcomeOf<Awaitable>(std::forward<Awaitable>(awaitable), where);
}

}  // namespace bide
