#pragma once

#include <concepts>
#include <coroutine>
#include <source_location>
#include <utility>

#include <bide/executor/cancel_scope.hpp>
#include <bide/executor/scope/awaitable.hpp>

namespace bide {

/// The await of something inside a scope of its own, which lives here, in the awaiting frame: no thread, and
/// no coroutine around the one that is awaited.
///
/// A `Scope` is a CancelScope with `cancelled_out()`: called when it is left, and a Cancelled has come out.
template <class Scope, class Awaitable>
class ScopedAwait {
 public:
  ScopedAwait(const typename Scope::Arguments& arguments, Awaitable&& awaitable, std::source_location where)
      : scope_(arguments, where), awaiter_(awaiter_of(std::forward<Awaitable>(awaitable), where)) {}

  bool await_ready() {
    scope_.enter();
    return awaiter_.await_ready();
  }
  template <std::derived_from<Frame> Promise>
  auto await_suspend(std::coroutine_handle<Promise> frame) {
    return awaiter_.await_suspend(frame);
  }
  Awaited<Awaitable> await_resume() {
    try {
      const Leaving leaving(scope_);
      return awaiter_.await_resume();
    } catch (const Cancelled&) {
      scope_.cancelled_out();
      throw;
    }
  }

 private:
  // Also by an exception: the handler runs outside of the scope.
  class Leaving {
   public:
    explicit Leaving(Scope& scope) : scope_(scope) {}
    ~Leaving() { scope_.leave(); }
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;

   private:
    Scope& scope_;
  };

  Scope scope_;
  AwaiterOf<Awaitable> awaiter_;
};

/// What `timeout`, `deadline` and `shielded` return: nothing has begun, and it may be moved.
template <class Scope, class Awaitable>
class [[nodiscard]] Scoped {
 public:
  Scoped(const typename Scope::Arguments& arguments, Awaitable&& awaitable, std::source_location where)
      : arguments_(arguments), where_(where), awaitable_(std::forward<Awaitable>(awaitable)) {}

  /// Awaited once, as an rvalue.
  ScopedAwait<Scope, Awaitable> operator co_await() && {
    return ScopedAwait<Scope, Awaitable>(arguments_, std::forward<Awaitable>(awaitable_), where_);
  }

 private:
  typename Scope::Arguments arguments_;
  std::source_location where_;
  Kept<Awaitable> awaitable_;
};

}  // namespace bide
