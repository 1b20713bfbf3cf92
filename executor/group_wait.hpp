#pragma once

#include <concepts>
#include <coroutine>
#include <string>
#include <vector>

#include <bide/executor/group_scope.hpp>
#include <bide/executor/wait.hpp>

namespace bide {

/// The wait for all threads of a group to end.
///
/// Suspends: unless there are none. No cancellation point: a cancel reaches the threads, and they are waited for.
/// Order:    the members run at the rank of this thread, if theirs is lower. Members that join after it has
///           succeeded, before this thread goes on, are not waited for: ask size() again.
class GroupWait final : public Wait {
 public:
  explicit GroupWait(GroupScope& group, std::source_location where = std::source_location::current())
      : Wait(where), group_(group), shield_(CancelScope::Shield::yes) {}

  bool await_ready() const { return group_.size() == 0; }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    shield_.enter();
    enter();
    group_.waiter_ = this;
    park(frame.promise());
    group_.note_ranks();
    GroupScope::rank_noted(group_.executor());
  }
  void await_resume() {}

  void withdraw() noexcept override { group_.waiter_ = nullptr; }
  std::string describe() const override;
  std::vector<const GreenThread*> waits_for() const override;
  GreenThread* rank_changed() override {
    group_.note_ranks();
    return nullptr;
  }

 private:
  friend GroupScope;
  GroupScope& group_;
  CancelScope shield_;
};

}  // namespace bide
