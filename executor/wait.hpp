#pragma once

#include <source_location>
#include <string>

#include <bide/executor/green_thread.hpp>

namespace bide {

/// One suspension of a thread until somebody wakes it: the base of every awaiter that waits for another thread.
///
/// The awaiter lives in the awaiting frame and registers itself with what it waits for. It must be able to
/// withdraw: a cancel, or the executor's end, takes it back without the waker's help. Nothing is lost when
/// success and cancel fall into one instant: `wake` makes the wait a success, and the cancel shows at the next.
///
/// A derived awaiter: `await_ready` returns true if `enter()` does, or when there is no need to wait;
/// `await_suspend` registers and calls `park`; `await_resume` calls `finish` first.
class Wait {
 public:
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  /// Takes this wait back from what it waits for. Called once, while parked, when the thread is cancelled or
  /// destroyed; afterwards nothing may refer to this object.
  virtual void withdraw() noexcept = 0;

  /// What the thread waits for, in words that continue "waits for ": "thread 7 to end".
  virtual std::string describe() const = 0;

  /// The thread that can end this wait, if it is known.
  virtual const GreenThread* waits_for() const { return nullptr; }

  /// The thread's rank has changed while it waits: whatever orders its waiters puts it in its new place.
  /// Returns: the holder of what this waits for, if its rank may change by that.
  virtual GreenThread* rank_changed() { return nullptr; }

  std::source_location where() const { return where_; }

 protected:
  explicit Wait(std::source_location where) : where_(where) {}
  ~Wait() = default;

  /// Begins the wait. True: the thread is cancelled already, do not touch anything, `finish` will throw.
  bool enter() {
    thread_ = running.thread;
    require(thread_ != nullptr, "a wait outside of a green thread");
    thread_->wait_failed = thread_->cancelled;
    return thread_->cancelled != 0;
  }

  void park(Frame& frame) {
    thread_->leaf = &frame;
    thread_->waits(*this);
  }

  /// Makes the thread ready, at the back of its class. The wait has succeeded. A plain call from anywhere on
  /// the executor's OS thread.
  void wake();

  /// Throws Cancelled when the wait ended, or was entered, by a cancel.
  void finish() const {
    if (thread_->wait_failed != 0) throw_cancelled();
  }

  GreenThread* thread() const { return thread_; }

 private:
  [[noreturn]] static void throw_cancelled();

  std::source_location where_;
  GreenThread* thread_ = nullptr;
};

}  // namespace bide
