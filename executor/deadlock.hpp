#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include <bide/executor/report.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// Thrown by `run` when no thread can ever run again. `what()` tells it all, a line a thread, in this order:
///
/// - Each cycle of threads that wait for one another, in the order of the cycle. No two share a thread.
/// - Threads that wait for one in a cycle, or for one that does.
/// - Lost wake-ups: threads that wait for what no particular thread owes them (an item, an event, a permit), and
///   nobody is left to bring it. Beside a cycle it may be that a thread of the cycle would have.
/// - Threads that wait for one of those.
///
/// The threads stay as they are: they can be inspected, cancelled (`stop` and `run` again) or destroyed with
/// the executor.
class Deadlock : public std::runtime_error {
 public:
  Deadlock(Instant now, std::vector<ThreadReport> threads);

  /// Every live thread, in submit order.
  const std::vector<ThreadReport>& threads() const { return *threads_; }

 private:
  std::shared_ptr<const std::vector<ThreadReport>> threads_;  // copying an exception must not throw
};

/// Thrown by `run` when threads, or posts, go on and on and get nowhere: ExecutorOptions::livelock_after.
///
/// The threads stay as they are, as with Deadlock.
class Livelock : public std::runtime_error {
 public:
  Livelock(Instant now, std::vector<ThreadReport> threads);

  /// The threads that are ready, in submit order.
  const std::vector<ThreadReport>& threads() const { return *threads_; }

 private:
  std::shared_ptr<const std::vector<ThreadReport>> threads_;
};

/// Thrown by `run` in virtual time when time has stood still too long for real operations that do not end:
/// ExecutorOptions::operation_watchdog. `what()` names them, with the threads that wait for them.
///
/// The threads stay as they are, and `run` goes on waiting.
class OperationStuck : public std::runtime_error {
 public:
  OperationStuck(Instant now, Duration waited, std::vector<ThreadReport> threads);

  /// Every live thread, in submit order.
  const std::vector<ThreadReport>& threads() const { return *threads_; }

 private:
  std::shared_ptr<const std::vector<ThreadReport>> threads_;
};

}  // namespace bide
