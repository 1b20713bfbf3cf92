#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include <bide/executor/cancellation_point.hpp>
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

  /// Asks the outside for the end of this wait, if only that can end it: the thread stays suspended until it is woken.
  /// False: it can be withdrawn at once. Called when the thread is cancelled, and before it is destroyed.
  virtual bool ask_to_end() noexcept { return false; }

  /// It was withdrawn, and not because the executor ends: lets those through that it stood in the way of.
  virtual void withdrawn() noexcept {}

  /// What the thread waits for, in words that continue "waits for ": "thread 7 to end".
  virtual std::string describe() const = 0;

  /// The threads that can end this wait, as far as they are known: the holders of a mutex, the threads to join.
  virtual std::vector<const GreenThread*> waits_for() const { return {}; }

  /// The line at which the holder of what this waits for took it, where that is known.
  virtual std::optional<std::source_location> taken_at() const { return std::nullopt; }

  /// What any thread could do to end it, in words that continue "nobody is left who could ": "send on it".
  virtual std::string remedy() const { return "wake it"; }

  /// The thread's rank has changed while it waits: whatever orders its waiters puts it in its new place.
  /// Returns: the holder of what this waits for, if its rank may change by that.
  virtual GreenThread* rank_changed() { return nullptr; }

  /// For a wait that stands for several, as select does: one of them has succeeded, the others go.
  virtual void settle(Wait& /*succeeded*/) {}

  std::source_location where() const { return where_; }

  /// When it began, as the loop saw the time.
  Instant since() const { return since_; }

  /// What it waits for was destroyed, outside of a run: only a cancel can end this.
  bool gone() const { return gone_; }

 protected:
  explicit Wait(std::source_location where) : where_(where) {}
  ~Wait() = default;

  /// Begins the wait. True: the thread is cancelled already, do not touch anything, `finish` will throw.
  bool enter() {
    thread_ = running.thread;
    return CancellationPoint::enter("a wait outside of a green thread");
  }

  /// Suspends the thread in this wait. In one that stands for several, the thread is suspended already.
  void park(Frame& frame) {
    if (thread_->state != Runnable::State::running) return;
    since_ = *running.now;
    thread_->leaf = &frame;
    thread_->waits(*this);
  }

  /// What this waits for goes, outside of a run: the thread stays suspended, and reports say why.
  void park_for_ever();

  /// Makes the thread ready, at the back of its class. The wait has succeeded. A plain call from anywhere on
  /// the executor's OS thread.
  void wake();

  /// False when the wait ended by a cancel, or was entered cancelled.
  bool succeeded() const { return thread_->wait_failed == 0; }

  /// Throws Cancelled where it has not succeeded. Requires: called by the thread that waited.
  void finish() const { CancellationPoint::leave(); }

  GreenThread* thread() const { return thread_; }
  void set_where(std::source_location where) { where_ = where; }

  /// Works out a thread's rank anew, and those of all that depend on it.
  static void rank_again(GreenThread& thread);

 private:
  std::source_location where_;
  Instant since_{};
  GreenThread* thread_ = nullptr;
  bool gone_ = false;
};

}  // namespace bide

#include <bide/executor/executor.hpp>

namespace bide {

inline void Wait::wake() {
  if (Wait& parked = thread_->wait(); &parked != this) [[unlikely]]
    parked.settle(*this);
  thread_->executor->wake(*thread_);
}

}  // namespace bide
