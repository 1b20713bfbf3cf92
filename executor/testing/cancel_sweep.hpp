#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <bide/executor/executor.hpp>

/// A cancel at every point: what is cancelled must end, whatever it was in, and leave things in order.
///
///     CancelSweepReport report = for_each_cancel_point([](Executor& executor) {
///       auto pool = std::make_shared<Pool>();
///       executor.submit(borrows(*pool));  // the first thread is the one that is cancelled
///       executor.submit(borrows(*pool));
///       return [pool] { return pool->free() == pool->size(); };
///     });
///     CHECK(report);
namespace bide::testing {

struct CancelSweepOptions {
  static constexpr std::uint64_t each_thread = 0;

  /// Whom to cancel, by id: 1 is the first thread that the scenario submits. `each_thread`: all, in turn.
  std::uint64_t victim = 1;
  /// A run in which threads are resumed more often counts as one that does not end.
  std::uint64_t most_resumes = 1'000'000;
  /// Of each run's executor. Time is virtual, and the observer is the sweep's own.
  ExecutorOptions executor{};
};

struct CancelSweepReport {
  std::size_t points = 0;             // cancels, each in a run of its own
  std::vector<std::string> failures;  // a line each: the point, the thread and its line, what went wrong

  explicit operator bool() const { return failures.empty(); }
};
std::ostream& operator<<(std::ostream&, const CancelSweepReport&);

/// What is checked after a run. Returns: what is wrong, in words; empty when nothing is.
using CancelSweepCheck = std::function<std::string()>;

CancelSweepReport sweep_cancel_points(const std::function<CancelSweepCheck(Executor&)>& scenario,
                                      const CancelSweepOptions& options);

/// Runs the scenario once without a cancel, and then once for every point at which its victim can be
/// cancelled: when it is submitted, each time it has given up the CPU, and each time another thread has woken
/// it and it has not gone on yet. Each run has an executor of its own, in virtual time.
///
/// `scenario(executor)` submits threads, and may return a function to check its own invariant with, after the
/// run: it returns bool, or a std::string that says what is wrong, or throws. What it captures lives until
/// then. A run fails when it does not end, by a Deadlock or otherwise; when an error leaves it; when threads
/// are left; when the check fails; and, in a build with AddressSanitizer or LeakSanitizer, when memory leaks.
/// A sweep without a point fails too: its victim was never there.
///
/// Requires: the scenario does the same each time.
/// Cost:     as many runs as points.
template <class Scenario>
CancelSweepReport for_each_cancel_point(Scenario scenario, const CancelSweepOptions& options = {}) {
  using Check = std::invoke_result_t<Scenario&, Executor&>;
  return sweep_cancel_points(
      [&scenario](Executor& executor) -> CancelSweepCheck {
        if constexpr (std::is_void_v<Check>) {
          scenario(executor);
          return [] { return std::string(); };
        } else {
          return [check = scenario(executor)]() mutable -> std::string {
            using Verdict = std::invoke_result_t<Check&>;
            if constexpr (std::is_same_v<Verdict, bool>) {
              return check() ? "" : "the scenario's invariant does not hold";
            } else if constexpr (std::is_void_v<Verdict>) {
              check();
              return "";
            } else {
              return check();
            }
          };
        }
      },
      options);
}

}  // namespace bide::testing
