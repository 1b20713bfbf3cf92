#pragma once

#include <bide/executor/green_thread.hpp>

namespace bide {

/// Hooks of the run loop: derive, override what you need, and pass it in ExecutorOptions.
///
/// Called on the executor's OS thread, between resumes or in the middle of one. A hook reads; it must not
/// submit, wake, cancel or throw. The thread it is given is valid during the call; its `sequence`, from 0, is its
/// place in the order in `submitted`, `resumed` and `woken`, and means nothing in the others.
/// Cost: one predictable branch an event when there is no observer.
class Observer {
 public:
  virtual ~Observer() = default;

  /// A thread was admitted and is ready.
  virtual void submitted(const GreenThread&) {}
  /// The loop gives the thread the CPU: the trace of a run is the list of these calls.
  virtual void resumed(const GreenThread&, Instant) {}
  /// A sleeping or waiting thread became ready.
  virtual void woken(const GreenThread&, Instant) {}
  /// The thread was cancelled. A wait that it is in ends by that.
  virtual void cancelled(const GreenThread&, Instant) {}
  /// The thread's root task has ended.
  virtual void ended(const GreenThread&, Instant) {}
  /// One resume took so much real time, above ExecutorOptions::stall_threshold: others could not run meanwhile.
  /// `where`: the line of the await to which it came in the end; of its submit when it has ended.
  virtual void stalled(const GreenThread&, Duration /*taken*/, std::source_location /*where*/) {}
  /// Virtual time was moved: one tick.
  virtual void time_moved(Instant /*from*/, Instant /*to*/) {}
};

}  // namespace bide
