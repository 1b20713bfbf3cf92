#pragma once

#include <bide/executor/green_thread.hpp>

namespace bide {

/// The first and the last step of every wait of the running thread.
///
/// An awaiter's `await_ready` calls `enter`, and returns true if that does; its `await_resume` calls `leave`.
class CancellationPoint {
 public:
  /// Returns: true when the thread is cancelled already: it waits for nothing, and `leave` throws.
  /// Requires: called in a green thread; else `message` ends the process.
  static bool enter(const char* message) {
    require(running.thread != nullptr, message);
    GreenThread& thread = *running.thread;
    thread.wait_failed = thread.cancelled;
    return thread.cancelled != 0;
  }
  /// Throws: Cancelled, when the wait was entered cancelled or a cancel has ended it.
  static void leave() {
    if (running.thread->wait_failed != 0) throw_cancelled();
  }

 private:
  [[noreturn]] static void throw_cancelled();
};

}  // namespace bide
