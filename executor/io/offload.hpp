#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/operation.hpp>

namespace bide {

/// `co_await offload(function, arguments...)`: see there.
template <class F, class... Args>
class [[nodiscard]] Offload final : public OperationWait {
 public:
  using Result = std::invoke_result_t<F, Args...>;
  static_assert(!std::is_reference_v<Result>,
                "what an offloaded function returns has to outlive its OS thread");

  template <class Function, class... Arguments>
  explicit Offload(std::source_location where, Function&& function, Arguments&&... arguments)
      : OperationWait(Kind::call, where),
        function_(std::forward<Function>(function)),
        arguments_(std::forward<Arguments>(arguments)...) {}

  bool await_ready() { return enter(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    begin(frame.promise(), Executor::current().blocking_pool());
  }
  Result await_resume() {
    const std::int64_t error = end();
    if (error < 0)
      throw std::system_error(static_cast<int>(-error), std::generic_category(), "offload: a thread for it");
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    if constexpr (!std::is_void_v<Result>) return std::move(*value_);
  }

  std::string describe() const override { return "a function on another OS thread"; }
  std::string remedy() const override { return "end it"; }

 private:
  struct Nothing {};

  std::int64_t call_blocking() noexcept override {
    try {
      if constexpr (std::is_void_v<Result>) {
        std::apply(std::move(function_), std::move(arguments_));
      } else {
        value_.emplace(std::apply(std::move(function_), std::move(arguments_)));
      }
    } catch (...) {
      error_ = std::current_exception();
    }
    return 0;
  }

  F function_;
  std::tuple<Args...> arguments_;
  std::conditional_t<std::is_void_v<Result>, Nothing, std::optional<Result>> value_{};
  std::exception_ptr error_{};
};

/// Calls `function(arguments...)` on an OS thread of the executor's BlockingPool, and gives its result: for work that
/// would hold up the loop, because it computes for long or calls what blocks.
///
///     const std::string text = co_await offload(read_all, path);
///
/// Function and arguments move there, and are gone when the await has ended. They must not touch the executor, nor what its
/// threads use meanwhile. With g++ 12, name a lambda whose captures have destructors, and move it in.
///
/// Suspends: always. Cancellation point: a function that has not begun is not called; one that has is waited for, its
///           result is delivered, and the cancel shows at the next wait.
/// Order:    functions begin in the order of the calls, on ExecutorOptions::blocking_threads threads at a time.
/// Time:     virtual time stands still until it has ended.
/// Throws:   Cancelled; what the function throws; std::system_error when no OS thread can be made.
/// Cost:     no allocation; about 10 us for the way there and back.
template <class F>
auto offload(F function, std::source_location where = std::source_location::current()) {
  return Offload<F>(where, std::move(function));
}
template <class F, class First, class... Rest>
requires std::invocable<F, First, Rest...>
auto offload(F function, First first, Rest... rest) {
  return Offload<F, First, Rest...>(std::source_location(), std::move(function), std::move(first),
                                    std::move(rest)...);
}

}  // namespace bide
