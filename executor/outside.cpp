#include <bide/executor/blocking_pool.hpp>
#include <bide/executor/executor.hpp>

// How an executor waits for what others do: the kernel, the threads of the pool, and posts.

namespace bide {

void Executor::install(std::unique_ptr<Driver> driver) {
  require(driver_ == nullptr, "an executor gets a second driver");
  driver_ = std::move(driver);
}

BlockingPool& Executor::blocking_pool() {
  if (blocking_pool_ == nullptr)
    blocking_pool_ = std::make_unique<BlockingPool>(options_.blocking_threads, *post_box_);
  return *blocking_pool_;
}

void Executor::wait_outside(Duration longest) {
  if (driver_ != nullptr) {
    post_box_->wait_in(*driver_, longest);
  } else {
    post_box_->wait(longest);
  }
}

// No timer is left: only an operation or a post could make something ready. False: none can, or none came.
bool Executor::wait_for_outside() {
  if (operations_ > 0) {
    wait_outside(Duration::max());
    return true;
  }
  const bool might_come = !virtual_time_ || post_box_.use_count() > 1;  // somebody holds a Poster
  if (threads_.empty() || !might_come) return false;
  RealClock clock;
  const Instant end = add_saturating(clock.now(), options_.deadlock_after);
  do {  // a driver wakes for signals, and for what nobody here waits for
    wait_outside(end - clock.now());
    if (driver_ != nullptr) driver_->collect();
    if (!ready_.empty() || post_box_->pending()) return true;
  } while (clock.now() < end);
  return false;
}

// Virtual time must not pass a timeout while what it guards is under way outside.
void Executor::wait_for_operation() {
  const Instant read = RealClock().now();
  if (!operations_held_) operations_held_ = read;
  const Duration waited = read - *operations_held_;
  if (waited >= options_.operation_watchdog) {
    operations_held_.reset();
    throw OperationStuck(now_, waited, describe_threads());
  }
  wait_outside(options_.operation_watchdog - waited);
}

// Before any frame goes: the kernel may write into it until the last completion of what it awaits.
void Executor::drain_operations() noexcept {
  threads_.sort_by_id();
  for (GreenThread* const thread : threads_) {
    if (thread->state == Runnable::State::waiting && !thread->wait().gone())
      static_cast<void>(thread->wait().ask_to_end());
  }
  while (operations_ > 0) {
    look_outside();
    if (operations_ > 0) wait_outside(Duration::max());
  }
}

}  // namespace bide
