#include <bide/executor/group_scope.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <bide/executor/executor.hpp>
#include <bide/executor/group_wait.hpp>
#include <bide/executor/obligation.hpp>

namespace bide {

struct GroupScope::Member : CancelScope {
  GroupScope* group;  // first: executor/gdb/bide.py finds it behind the CancelScope
  Obligation ending;
  bool noted = false;  // its thread is to be ranked again
  Member* next_noted;
};

GroupScope::Place::Place() : memory_(frame_pool.allocate(sizeof(Member))) {}
void GroupScope::Place::release() noexcept { frame_pool.release(memory_, sizeof(Member)); }

GroupScope::~GroupScope() {
  while (first_member_ != nullptr) {  // only when the executor goes: the members go first, or never ran
    auto* member = static_cast<Member*>(first_member_);
    first_member_ = member->next_;
    member->group = nullptr;
  }
}

void GroupScope::add(GreenThread& child, Place& place) {
  auto* member = ::new (std::exchange(place.memory_, nullptr)) Member;
  member->member_ = true;
  member->group = this;
  member->thread_ = &child;
  member->urgency_ = urgency_;
  member->cancelled_ = cancelled_;
  child.scope = member;
  child.cancelled = cancelled_ ? 1 : 0;
  member->previous_ = last_member_;
  (last_member_ != nullptr ? last_member_->next_ : first_member_) = member;
  last_member_ = member;
  ++size_;
  member->ending.hold(child);
  if (GreenThread* const thread = note_rank(*member); thread != nullptr) executor().rank_again(*thread);
}

// A waiter inside a deadline is at least as urgent as that.
GreenThread* GroupScope::note_rank(Member& member) {
  if (waiter_ != nullptr)
    return member.ending.note_demand(waiter_->thread()->rank, waiter_->thread()->urgency);
  if (urgency_ != nullptr) return member.ending.note_demand(Priority::low, urgency_);
  return nullptr;
}

// Groups may lie in groups without end, and the stack has one: members are noted, and ranked in a loop.
void GroupScope::note_ranks() {
  for (CancelScope* scope = first_member_; scope != nullptr; scope = scope->next_) {
    auto& member = *static_cast<Member*>(scope);
    if (note_rank(member) == nullptr || member.noted) continue;
    member.noted = true;
    member.next_noted = static_cast<Member*>(executor().noted_members_);
    executor().noted_members_ = &member;
  }
}

void GroupScope::rank_noted(Executor& executor) {
  if (executor.ranking_) return;  // from further in
  executor.ranking_ = true;
  while (executor.noted_members_ != nullptr) {
    auto& member = *static_cast<Member*>(executor.noted_members_);
    executor.noted_members_ = member.next_noted;
    member.noted = false;
    executor.rank_again(*member.thread_);
  }
  executor.ranking_ = false;
}

std::vector<const GreenThread*> GroupScope::members() const {
  std::vector<const GreenThread*> threads;
  for (const CancelScope* member = first_member_; member != nullptr; member = member->next_) {
    threads.push_back(member->thread_);
  }
  return threads;
}

const GreenThread* GroupScope::owner_of(const GreenThread& thread) {
  const CancelScope* outermost = thread.scope;
  if (outermost == nullptr) return nullptr;
  while (outermost->outer_ != nullptr) outermost = outermost->outer_;
  if (!outermost->member_) return nullptr;
  const GroupScope* group = static_cast<const Member*>(outermost)->group;
  return group != nullptr ? group->thread_ : nullptr;
}

GroupScope* GroupScope::of(const GreenThread& thread) {
  if (thread.scope == nullptr) return nullptr;
  require(thread.scope->member_, "a thread ends inside a scope that it has not left");
  return static_cast<Member*>(thread.scope)->group;
}

// Of a thread that is destroyed suspended, the root frame may still be in scopes of its own.
void GroupScope::ended(GreenThread& thread) {
  CancelScope** outermost = &thread.scope;
  if (*outermost == nullptr) return;
  while ((*outermost)->outer_ != nullptr) outermost = &(*outermost)->outer_;
  if (!(*outermost)->member_) return;
  auto* member = static_cast<Member*>(*outermost);
  *outermost = nullptr;
  if (GroupScope* group = member->group; group != nullptr) {
    (member->previous_ != nullptr ? member->previous_->next_ : group->first_member_) = member->next_;
    (member->next_ != nullptr ? member->next_->previous_ : group->last_member_) = member->previous_;
    if (--group->size_ == 0 && group->waiter_ != nullptr) std::exchange(group->waiter_, nullptr)->wake();
  }
  member->ending.let_go();
  member->thread_ = nullptr;  // it is not left, it goes with its thread
  member->~Member();
  frame_pool.release(member, sizeof(Member));
}

void GroupScope::fail(std::exception_ptr error) {
  if (cancels_on_ == CancelsOn::nothing) return;
  if (is_cancelled(error)) {
    if (!requested_) cut_short_ = true;
    if (cancels_on_ == CancelsOn::error_or_cancel) cancel();
    return;
  }
  // A member that joins another fails with the same object.
  if (std::find(errors_.begin(), errors_.end(), error) != errors_.end()) return;
  errors_.push_back(std::move(error));
  cancel();
}

void GroupScope::refused(std::exception_ptr error) {
  errors_.push_back(std::move(error));
  cancel();
}

void GroupScope::close() {
  require(size_ == 0, "a group is left before its threads have ended");
  GreenThread& thread = *thread_;
  leave();
  if (!errors_.empty()) {
    if (errors_.size() > 1) {
      thread.executor->attached_errors_.attach(errors_.front(), {errors_.begin() + 1, errors_.end()});
    }
    std::rethrow_exception(errors_.front());
  }
  if (cut_short_ && thread.cancelled != 0) throw Cancelled();
}

std::string GroupWait::describe() const {
  return std::to_string(group_.size()) + (group_.size() == 1 ? " thread" : " threads") + " of a group to end";
}

std::vector<const GreenThread*> GroupWait::waits_for() const { return group_.members(); }

}  // namespace bide
