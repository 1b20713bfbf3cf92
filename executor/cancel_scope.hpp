#pragma once

#include <cstdint>

#include <bide/executor/green_thread.hpp>

namespace bide {

/// A stretch of a thread's work that is cancelled as a whole, with all that it awaits and the groups in it.
///
/// A thread is a scope itself; these nest inside it, last entered first left. What is cancelled stays
/// cancelled: every wait inside throws, also those entered later, until the scope is left. Waits outside are
/// not touched.
///
/// Invariants: `outer_` leads from a thread's innermost scope to its outermost one; `cancelled()` holds when
/// this scope or one around it was cancelled, with no shield between; GreenThread::cancelled is that of the
/// innermost.
/// Cost: enter and leave O(1); a wait looks at one flag; cancel O(scopes and threads inside). No allocation.
class CancelScope {
 public:
  /// A shield lets no cancel in from around it; its own cancel works.
  enum class Shield : std::uint8_t { no, yes };

  explicit CancelScope(Shield shield = Shield::no) : shield_(shield) {}
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
  /// Leaves, if it was not left: frames that are destroyed suspended go from the inside out.
  ~CancelScope() {
    if (thread_ != nullptr) leave();
  }

  /// Becomes the innermost scope of the running thread.
  void enter() {
    require(running.thread != nullptr, "a scope is entered outside of a green thread");
    require(thread_ == nullptr, "a scope is entered twice");
    thread_ = running.thread;
    outer_ = thread_->scope;
    urgency_ = outer_ != nullptr ? outer_->urgency_ : nullptr;
    thread_->scope = this;
    cancelled_ = requested_ || (thread_->cancelled != 0 && shield_ == Shield::no);
    thread_->cancelled = cancelled_ ? 1 : 0;
  }
  /// Requires: it is the innermost.
  void leave() noexcept {
    require(thread_->scope == this, "scopes are left in another order than they were entered");
    thread_->scope = outer_;
    thread_->cancelled = outer_ != nullptr ? (outer_->cancelled_ ? 1 : 0) : thread_->cancel_requested;
    thread_ = nullptr;
  }

  /// Cancels all that is inside. A plain call from any thread of the executor; a second one does nothing.
  void cancel();

  bool cancel_requested() const { return requested_; }
  /// A wait right inside would throw.
  bool cancelled() const { return cancelled_; }

  /// Threads of groups inside run at this urgency, if theirs is later. Requires: just entered; the urgency
  /// outlives the scope.
  void urge(Urgency& urgency);

 protected:
  friend class Executor;
  friend class GroupScope;

  /// Cancels the part of the thread inside `from` (nullptr: all of it), stopping at shields.
  static void reach(GreenThread& thread, CancelScope* from);

  CancelScope* outer_ = nullptr;
  GreenThread* thread_ = nullptr;        // entered by; nullptr when not entered
  Urgency* urgency_ = nullptr;           // the earliest of this scope and those around it
  CancelScope* first_member_ = nullptr;  // of a group: the scope around each of its threads, in submit order
  CancelScope* last_member_ = nullptr;
  CancelScope* next_ = nullptr;  // as a member
  CancelScope* previous_ = nullptr;
  CancelScope* next_to_reach_ = nullptr;  // the work list of `cancel`
  Shield shield_;
  bool requested_ = false;
  bool cancelled_ = false;
  bool member_ = false;  // surrounds a whole thread that belongs to a group
};

}  // namespace bide
