#include <bide/executor/cancel_scope.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/group_wait.hpp>
#include <bide/executor/obligation.hpp>

namespace bide {

void CancelScope::enter() {
  require(running.thread != nullptr, "a scope is entered outside of a green thread");
  require(thread_ == nullptr, "a scope is entered twice");
  thread_ = running.thread;
  outer_ = thread_->scope;
  thread_->scope = this;
  cancelled_ = requested_ || (thread_->cancelled != 0 && shield_ == Shield::no);
  thread_->cancelled = cancelled_ ? 1 : 0;
}

void CancelScope::leave() noexcept {
  require(thread_->scope == this, "scopes are left in another order than they were entered");
  thread_->scope = outer_;
  thread_->cancelled = outer_ != nullptr ? (outer_->cancelled_ ? 1 : 0) : thread_->cancel_requested;
  thread_ = nullptr;
}

void CancelScope::cancel() {
  if (requested_) return;
  requested_ = true;
  if (thread_ != nullptr && !cancelled_) reach(*thread_, this);
}

// Breadth first over the threads inside, in submit order, with the list of what is left to do running through
// the scopes: nesting costs no stack and no memory.
void CancelScope::reach(GreenThread& thread, CancelScope* from) {
  CancelScope* first_to_do = nullptr;
  CancelScope** end_to_do = &first_to_do;
  GreenThread* current = &thread;
  for (;;) {
    CancelScope* const stop = from != nullptr ? from->outer_ : nullptr;
    CancelScope* inside = current->scope;  // the innermost that is reached
    bool shielded = false;
    for (CancelScope* scope = current->scope; scope != from && scope != nullptr; scope = scope->outer_) {
      if (scope->shield_ == Shield::no) continue;
      inside = scope->outer_;
      shielded = true;
    }
    for (CancelScope* scope = inside; scope != stop && scope != nullptr; scope = scope->outer_) {
      if (scope->cancelled_) continue;
      scope->cancelled_ = true;
      for (CancelScope* member = scope->first_member_; member != nullptr; member = member->next_) {
        if (member->cancelled_) continue;
        member->next_to_reach_ = nullptr;
        *end_to_do = member;
        end_to_do = &member->next_to_reach_;
      }
    }
    if (!shielded) current->executor->cancel_wait(*current);
    if (first_to_do == nullptr) return;
    from = first_to_do;
    current = from->thread_;
    first_to_do = from->next_to_reach_;
    if (first_to_do == nullptr) end_to_do = &first_to_do;
  }
}

void DeadlineScope::enter() {
  CancelScope::enter();
  if (due_ <= thread_->executor->now()) return expire();
  thread_->executor->timers_.arm(*this, due_);
  armed_ = true;
}

void DeadlineScope::disarm() noexcept {
  if (armed_) thread_->executor->timers_.cancel(*this);
  armed_ = false;
}

// Surrounds a whole thread that belongs to a group.
struct GroupScope::Member : CancelScope {
  GroupScope* group;
  Obligation ending;
};

GroupScope::~GroupScope() {
  while (first_member_ != nullptr) {  // only when the executor goes: the members go first, or never ran
    auto* member = static_cast<Member*>(first_member_);
    first_member_ = member->next_;
    member->group = nullptr;
  }
}

void GroupScope::add(GreenThread& child) {
  auto* member = ::new (frame_pool.allocate(sizeof(Member))) Member;
  member->group = this;
  member->thread_ = &child;
  member->cancelled_ = cancelled_;
  child.scope = member;
  child.cancelled = cancelled_ ? 1 : 0;
  member->previous_ = last_member_;
  (last_member_ != nullptr ? last_member_->next_ : first_member_) = member;
  last_member_ = member;
  ++size_;
  member->ending.hold(child);
  if (waiter_ != nullptr) rank_members();
}

void GroupScope::rank_members() {
  for (CancelScope* member = first_member_; member != nullptr; member = member->next_) {
    static_cast<Member*>(member)->ending.demand(waiter_->thread()->rank, waiter_->thread()->urgency);
  }
}

GroupScope* GroupScope::of(const GreenThread& thread) {
  return thread.scope != nullptr ? static_cast<Member*>(thread.scope)->group : nullptr;
}

void GroupScope::ended(GreenThread& thread) {
  auto* member = static_cast<Member*>(thread.scope);
  if (member == nullptr) return;
  thread.scope = nullptr;
  if (GroupScope* group = member->group; group != nullptr) {
    (member->previous_ != nullptr ? member->previous_->next_ : group->first_member_) = member->next_;
    (member->next_ != nullptr ? member->next_->previous_ : group->last_member_) = member->previous_;
    if (--group->size_ == 0 && group->waiter_ != nullptr) group->waiter_->wake();
  }
  member->ending.let_go();
  member->thread_ = nullptr;  // it is not left, it goes with its thread
  member->~Member();
  frame_pool.release(member, sizeof(Member));
}

void GroupScope::fail(std::exception_ptr error) {
  if (is_cancelled(error)) return;
  errors_.push_back(std::move(error));
  cancel();
}

}  // namespace bide
