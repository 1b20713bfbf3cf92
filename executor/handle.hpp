#pragma once

#include <concepts>
#include <coroutine>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <bide/executor/executor.hpp>
#include <bide/executor/obligation.hpp>
#include <bide/executor/wait.hpp>

namespace bide {

/// A submitted thread, as its submitter sees it: to wait for its result, to cancel it, to ask how it stands.
///
///     Handle<int> handle = submit(work());
///     int result = co_await handle;
///
/// Owns: the result, once the thread has ended. Not the thread: dropping the Handle detaches it. An error that
///       is dropped with its Handle counts as one of a detached thread, so it still reaches `run`: keeping a
///       Handle handles nothing, await it or take its result.
/// Move: not while a thread waits for it. Dropped meanwhile it leaves that thread waiting for ever, until a cancel.
/// Use:  on the executor's OS thread. May outlive the executor; a thread destroyed with it ends as Cancelled.
template <class T>
class Handle final : public ResultSlotFor<T> {
 public:
  Handle(Handle&& other) noexcept : id_(other.id_) { take_from(other); }
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      this->~Handle();
      ::new (this) Handle(std::move(other));
    }
    return *this;
  }
  ~Handle() {
    if (this->joiner != nullptr) this->forget_joiner();
    if (this->state_ == ResultSlot::State::failed) {
      this->drop_error();
    } else if (this->thread != nullptr) {
      this->thread->root().result = nullptr;
    }
  }

  /// Counts from 1 in the order of the submits of an executor.
  std::uint64_t id() const { return id_; }

  /// The thread has ended, by return, exception or cancel.
  bool done() const { return this->state_ != ResultSlot::State::pending; }

  /// Cancels the thread: the wait it is in, and each that it enters, throws Cancelled. A plain call; the thread
  /// ends when it has cleaned up. Once is enough; on an ended thread it does nothing.
  void cancel() {
    if (!done() && this->thread != nullptr) this->thread->executor->cancel(*this->thread);
  }

  /// The result without a wait, for instance after `run` returned. Requires: done(), and not taken yet.
  /// Throws:  what the thread threw; Cancelled when a cancel ended it.
  T take() {
    if (this->error_ != nullptr) this->release_error();
    return ResultSlotFor<T>::take();
  }

 private:
  friend Executor;
  friend Join<T>;

  explicit Handle(GreenThread& made) : id_(made.id) {
    this->thread = &made;
    made.root().result = this;
  }

  void take_from(Handle& other) noexcept {
    require(other.joiner == nullptr, "a Handle is moved while a thread waits for it");
    this->take_over(other);
    this->thread = std::exchange(other.thread, nullptr);
    if (this->thread == nullptr) return;
    if (this->state_ == ResultSlot::State::failed) {
      this->moved_error_from(other);
    } else {
      this->thread->root().result = this;
    }
  }

  std::uint64_t id_;
};

/// The wait for a thread to end.
class JoinWait : public Wait {
 public:
  void withdraw() noexcept override {
    // Before it lets go: a change of rank may come back here along a circle, and must not hold the thread again.
    if (ResultSlot* const target = std::exchange(target_, nullptr); target != nullptr)
      target->joiner = nullptr;
    ending_.let_go();
  }
  std::string describe() const override;
  std::vector<const GreenThread*> waits_for() const override;
  GreenThread* rank_changed() override;

 protected:
  JoinWait(ResultSlot& target, std::source_location where) : Wait(where), target_(&target) {}
  ~JoinWait() {  // woken, and destroyed before it ran
    if (woken_) part();
  }

  void park(Frame& frame) {
    require(target_->joiner == nullptr, "two threads wait for one Handle");
    target_->joiner = this;
    Wait::park(frame);
    if (thread()->rank > target_->thread->own_priority || thread()->urgency != nullptr) [[unlikely]]
      lend_rank();
  }

  /// Before the result is taken.
  void arrive() {
    if (!woken_) return;
    require(target_ != nullptr, "a Handle is dropped while a thread is about to have its result");
    part();
  }

 private:
  void lend_rank();
  void part() {
    woken_ = false;
    if (target_ != nullptr) target_->joiner = nullptr;
  }

  friend Executor;
  friend ResultSlot;
  void woken() {
    woken_ = true;
    ending_.let_go();
    wake();
  }

  bool woken_ = false;  // the thread has ended; its Handle knows of this wait until the result is taken
  ResultSlot* target_;
  Obligation ending_;  // the joined thread runs at the rank of this one
};

/// `co_await handle`: the thread's result.
///
/// Suspends: unless the thread has ended. Cancellation point: the joined thread goes on, the Handle stays good.
/// Throws:   what the thread threw, the same object; Cancelled when it was cancelled, or the awaiting thread is.
/// Requires: one thread waits for a Handle at a time, and its result is taken once.
template <class T>
class Join final : public JoinWait {
 public:
  Join(Handle<T>& handle, std::source_location where) : JoinWait(handle, where), handle_(handle) {}

  bool await_ready() {
    require(handle_.done() || handle_.thread != nullptr, "a Handle is awaited that was moved away");
    return enter() || handle_.done();
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park(frame.promise());
  }
  T await_resume() {
    finish();
    arrive();
    return handle_.take();
  }

 private:
  Handle<T>& handle_;
};

// Inlined, so that options left alone cost nothing; little more than a call is left of it.
template <class T>
[[gnu::always_inline]] inline Handle<T> Executor::submit(Task<T> task, const SubmitOptions& options) {
  require(task.frame_ != nullptr, "a task is awaited or submitted twice", options.where);
  GreenThread& thread = admit(*task.frame_, options);
  task.frame_ = nullptr;
  return Handle<T>(thread);
}

template <class T>
std::optional<Handle<T>> Executor::try_submit(Task<T>& task, const SubmitOptions& options) {
  if (!admits()) return std::nullopt;
  return submit(std::move(task), options);
}

template <class F, class... Args>
auto Executor::submit(const SubmitOptions& options, F function, Args... arguments) {
  return submit(call_in_thread(options.where, std::move(function), std::move(arguments)...), options);
}

template <class F>
bool Executor::post(F function, Priority priority) {
  if (running.executor != this) {
    return post_box_->push(0, PostedCall<F, PostedFrom::other_thread>::make(std::move(function), priority));
  }
  return post_here(PostedCall<F, PostedFrom::same_thread>::make(std::move(function), priority));
}

template <class T>
[[gnu::always_inline]] inline Handle<T> submit(Task<T> task, const SubmitOptions& options) {
  return Executor::current().submit(std::move(task), options);
}
template <class F, class... Args>
auto submit(const SubmitOptions& options, F function, Args... arguments) {
  return Executor::current().submit(options, std::move(function), std::move(arguments)...);
}

}  // namespace bide
