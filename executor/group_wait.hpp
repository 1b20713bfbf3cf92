#pragma once

#include <concepts>
#include <coroutine>
#include <string>

#include <bide/executor/cancel_scope.hpp>
#include <bide/executor/wait.hpp>

namespace bide {

/// The wait for all threads of a group to end.
///
/// Suspends: unless there are none. Put it inside a shield: a group is not left before its threads have ended,
///           also when it is cancelled.
class GroupWait final : public Wait {
 public:
  explicit GroupWait(GroupScope& group, std::source_location where = std::source_location::current())
      : Wait(where), group_(group) {}

  bool await_ready() { return enter() || group_.size() == 0; }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    group_.waiter_ = this;
    park(frame.promise());
    group_.rank_members();
  }
  void await_resume() {
    group_.waiter_ = nullptr;
    finish();
  }

  void withdraw() noexcept override { group_.waiter_ = nullptr; }
  std::string describe() const override;
  GreenThread* rank_changed() override {
    group_.rank_members();
    return nullptr;
  }

 private:
  friend GroupScope;
  GroupScope& group_;
};

}  // namespace bide
