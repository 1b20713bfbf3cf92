#pragma once

#include <vector>

#include <bide/executor/executor.hpp>

namespace bide {

/// Something that lives off an executor without a thread of its own: it is told when the executor takes threads again
/// after it refused one, and when the executor goes.
///
/// Order: guests are told as they were attached.
/// Cost:  nothing for a thread that ends while no guest asks for room.
class ExecutorGuest {
 public:
  ExecutorGuest(const ExecutorGuest&) = delete;
  ExecutorGuest& operator=(const ExecutorGuest&) = delete;

 protected:
  ExecutorGuest() = default;
  ~ExecutorGuest() {
    if (host_ == nullptr) return;
    std::erase(host_->guests_, this);
    if (asks_) --host_->guests_asking_;
  }

  /// A thread has ended, or a run begins after one that was stopped: there is room. Attaches and destroys no guest. What
  /// it throws counts as the error of a detached thread.
  virtual void room_came() = 0;
  /// No thread will run any more; the threads that are left go next. The executor still tells the time.
  virtual void executor_goes() noexcept = 0;

  /// Requires: not attached.
  void attach(Executor& executor) {
    executor.guests_.push_back(this);
    host_ = &executor;
  }
  /// `room_came` will be called, once. Requires: attached.
  void ask_for_room() {
    if (asks_ || host_ == nullptr) return;
    asks_ = true;
    ++host_->guests_asking_;
  }

 private:
  friend class Executor;

  Executor* host_ = nullptr;
  bool asks_ = false;
};

}  // namespace bide
