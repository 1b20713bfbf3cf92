#pragma once

#include <bide/executor/scope/scoped_await.hpp>

namespace bide {

class ShieldScope : public CancelScope {
 public:
  struct Arguments {};
  ShieldScope(Arguments, std::source_location) : CancelScope(Shield::yes) {}
  void cancelled_out() const {}
};

/// `co_await shielded(task)`: cancels from around do not reach inside. For a clean-up that has to wait.
///
///     } catch (...) { failed = true; }
///     if (failed) co_await shielded(timeout(5s, say_goodbye(connection)));
///
/// Suspends: as what is awaited. No cancellation point: a cancel from around, before or meanwhile, shows at
///           the next wait after it.
/// Inside:   cancels and timeouts that begin inside work: give every shield a timeout.
/// Throws:   what is awaited throws.
/// Cost:     no allocation, no thread.
template <class Awaitable>
Scoped<ShieldScope, Awaitable> shielded(Awaitable&& awaitable,
                                        std::source_location where = std::source_location::current()) {
  return Scoped<ShieldScope, Awaitable>({}, std::forward<Awaitable>(awaitable), where);
}

}  // namespace bide
