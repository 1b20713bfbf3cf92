#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include <bide/executor/cancel_scope.hpp>

namespace bide {

class GroupWait;

/// A scope that owns threads: they are cancelled with it, and it is not left before they have ended.
class GroupScope : public CancelScope {
 public:
  /// Which end of a member cancels the group. With `nothing`, nor are errors collected: whoever holds the
  /// members' Handles has them.
  enum class CancelsOn : std::uint8_t { error, error_or_cancel, nothing };

  explicit GroupScope(CancelsOn cancels_on = CancelsOn::error) : cancels_on_(cancels_on) {}
  ~GroupScope();

  /// Room for a member, which is taken before its thread is made: after that nothing fails.
  class Place {
   public:
    /// Throws: std::bad_alloc.
    Place();
    ~Place() {
      if (memory_ != nullptr) release();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend class GroupScope;
    void release() noexcept;

    void* memory_;
  };
  /// Makes a thread that was just submitted a member. It inherits cancels of the group, and the urgency of
  /// the deadlines around it.
  void add(GreenThread& child, Place& place);

  /// Members that have not ended.
  std::size_t size() const { return size_; }
  /// Errors of members, in the order in which they came, each once. Cancels of members are none.
  const std::vector<std::exception_ptr>& errors() const { return errors_; }
  /// A member has failed.
  void fail(std::exception_ptr error);
  /// One could not be made: cancels the others, and `close` throws it, whatever cancels the group else.
  void refused(std::exception_ptr error);

  /// Leaves. Requires: all members have ended.
  /// Throws:   the first error; the others are attached to it (Executor::attached_errors). Cancelled, when
  ///           there is none but a cancel from around the group has ended members.
  void close();

  /// Those, in submit order.
  std::vector<const GreenThread*> members() const;
  /// The thread whose group this one belongs to; nullptr: none.
  static const GreenThread* owner_of(const GreenThread& thread);

  /// Requires: entered.
  Executor& executor() const { return *thread_->executor; }

 private:
  friend class Executor;
  friend class GroupWait;
  friend class TaskPromiseBase;
  struct Member;

  // The group of a thread whose inner scopes have all been left; nullptr: it is in none.
  static GroupScope* of(const GreenThread& thread);
  static void ended(GreenThread& thread);
  // The waiting thread's rank goes to those it waits for.
  GreenThread* note_rank(Member& member);
  void note_ranks();
  static void rank_noted(Executor& executor);

  CancelsOn cancels_on_;
  bool cut_short_ = false;  // a member ended by a cancel that was not the group's own
  std::size_t size_ = 0;
  GroupWait* waiter_ = nullptr;
  std::vector<std::exception_ptr> errors_;
};

}  // namespace bide
