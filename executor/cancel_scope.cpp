#include <bide/executor/cancel_scope.hpp>

#include <bide/executor/executor.hpp>
#include <bide/executor/obligation.hpp>

namespace bide {

void CancelScope::cancel() {
  if (requested_) return;
  requested_ = true;
  if (thread_ != nullptr && !cancelled_) reach(*thread_, this);
}

void CancelScope::urge(Urgency& urgency) {
  if (starts_before(&urgency, urgency_)) urgency_ = &urgency;
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

}  // namespace bide
