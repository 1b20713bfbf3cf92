#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include <bide/executor/green_thread.hpp>

namespace bide {

class GroupWait;

/// A stretch of a thread's work that can be cancelled as a whole, with all that it awaits and the groups in it.
///
/// A thread is a scope itself; these nest inside it, last entered first left. What is cancelled stays cancelled:
/// every wait inside throws, also those entered later, until the scope is left. Waits outside are not touched.
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
  void enter();
  /// Requires: it is the innermost.
  void leave() noexcept;

  /// Cancels all that is inside. A plain call from any thread of the executor; a second one does nothing.
  void cancel();

  bool cancel_requested() const { return requested_; }
  /// A wait right inside would throw.
  bool cancelled() const { return cancelled_; }

 protected:
  friend class Executor;
  friend class GroupScope;

  /// Cancels the part of the thread inside `from` (nullptr: all of it), stopping at shields.
  static void reach(GreenThread& thread, CancelScope* from);

  CancelScope* outer_ = nullptr;
  GreenThread* thread_ = nullptr;  // entered by; nullptr when not entered
  CancelScope* first_member_ = nullptr;  // a group's threads, by the scope that surrounds each, in submit order
  CancelScope* last_member_ = nullptr;
  CancelScope* next_ = nullptr;  // as a member
  CancelScope* previous_ = nullptr;
  CancelScope* next_to_reach_ = nullptr;  // the work list of `cancel`
  Shield shield_;
  bool requested_ = false;
  bool cancelled_ = false;
};

/// A scope that cancels itself at an instant. One timer, and no thread.
class DeadlineScope : public CancelScope, private Alarm {
 public:
  explicit DeadlineScope(Instant due) : Alarm(Wakes::scope), due_(due) {}
  ~DeadlineScope() { disarm(); }

  /// At a due instant that has come: enters cancelled.
  void enter();
  void leave() noexcept {
    disarm();
    CancelScope::leave();
  }
  /// The instant came while this was entered: a Cancelled out of it, with no cancel around it, is a time-out.
  bool expired() const { return expired_; }

 private:
  friend class Executor;

  void disarm() noexcept;
  void expire() {
    armed_ = false;
    expired_ = true;
    cancel();
  }

  Instant due_;
  bool armed_ = false;
  bool expired_ = false;
};

/// A scope that owns threads: they are cancelled with it, and it is not left before they have ended.
class GroupScope : public CancelScope {
 public:
  GroupScope() = default;
  ~GroupScope();

  /// Makes a thread that was just submitted a member.
  void add(GreenThread& child);

  std::size_t size() const { return size_; }
  /// Errors of members, in the order in which they came. Cancels of members are none.
  const std::vector<std::exception_ptr>& errors() const { return errors_; }
  /// A member has failed: cancels the group.
  void fail(std::exception_ptr error);

 private:
  friend class Executor;
  friend class GroupWait;
  friend class TaskPromiseBase;
  struct Member;

  // The group of a thread whose inner scopes have all been left; nullptr: it is in none.
  static GroupScope* of(const GreenThread& thread);
  static void ended(GreenThread& thread);
  // The waiting thread's rank goes to those it waits for.
  void rank_members();

  std::size_t size_ = 0;
  GroupWait* waiter_ = nullptr;
  std::vector<std::exception_ptr> errors_;
};

}  // namespace bide
