#include <cstdio>
#include <exception>

#include <bide/executor/executor.hpp>
#include <bide/executor/group_scope.hpp>

// Where an exception goes that no await takes: of a detached thread, of a posted function, or of a thread whose
// Handle is dropped with the error in it. A group takes those of its members; all others end the run.

namespace bide {

namespace {

// Nobody is left to throw it: say at least that it was.
void print_lost(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "bide: an error was not taken before its executor ended: %s\n", exception.what());
  } catch (...) {
    std::fputs("bide: an error was not taken before its executor ended\n", stderr);
  }
}

}  // namespace

bool is_cancelled(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const Cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

void Executor::detached_failed(std::exception_ptr error) noexcept {
  if (is_cancelled(error)) return;
  errors_.push_back(std::move(error));
  if (phase_ == Phase::open && (in_run_ || !threads_.empty()))
    cancel_all();  // else there is nothing to stop, and no run that would end it
}

// A detached root has thrown.
void TaskPromiseBase::detached_failed() noexcept {
  if (GroupScope* group = GroupScope::of(*running.thread); group != nullptr) {
    group->fail(std::current_exception());
  } else {
    running.executor->detached_failed(std::current_exception());
  }
}

// A run throws an error once; `report()` lists it until the next run begins.
void Executor::throw_errors() {
  if (errors_thrown_ == errors_.size()) return;
  const std::exception_ptr first = errors_[errors_thrown_];
  errors_thrown_ = errors_.size();
  std::rethrow_exception(first);
}

void Executor::print_errors_not_thrown() const noexcept {
  for (std::size_t error = errors_thrown_; error < errors_.size(); ++error) print_lost(errors_[error]);
}

// The error has gone into a Handle that nobody awaits yet.
void Executor::keep_error(ResultSlot& slot) {
  if (is_cancelled(slot.error())) return;
  kept_errors_.insert(&slot);
  slot.keeper = this;
}

void ResultSlot::release_error() noexcept {
  if (keeper != nullptr) keeper->kept_errors_.erase(this);
  keeper = nullptr;
}

void ResultSlot::moved_error_from(ResultSlot& old) noexcept {
  auto node = keeper->kept_errors_.extract(&old);
  node.value() = this;
  keeper->kept_errors_.insert(std::move(node));
}

void ResultSlot::drop_error() noexcept {
  if (Executor* executor = keeper; executor != nullptr) {
    release_error();
    executor->detached_failed(std::move(error_));
  } else if (!told_ && !is_cancelled(error_)) {
    print_lost(error_);
  }
}

}  // namespace bide
