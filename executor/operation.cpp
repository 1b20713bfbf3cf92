#include <bide/executor/operation.hpp>

#include <cerrno>

#include <bide/executor/blocking_pool.hpp>
#include <bide/executor/driver.hpp>
#include <bide/executor/executor.hpp>

namespace bide {

void OutsideWork::begin(Executor& executor) noexcept {
  require(!begun(), "work outside is begun twice");
  executor_ = &executor;
  executor.operation_started();
}

void OutsideWork::end() noexcept {
  if (!begun()) return;
  executor_->operation_ended();
  executor_ = nullptr;
}

void OperationWait::started(Frame& frame) {
  park(frame);
  thread()->executor->operation_started();
  in_flight = true;
  cancel_asked = false;
}

void OperationWait::begin(Frame& frame, Driver& driver) {
  driver_ = &driver;
  started(frame);
  driver.start(*this);  // which may have completed it
}

void OperationWait::begin(Frame& frame, BlockingPool& pool) {
  driver_ = nullptr;
  started(frame);
  pool.start(*this);
}

bool OperationWait::ask_to_end() noexcept {
  if (!cancel_asked) {
    cancel_asked = true;
    if (driver_ != nullptr) {
      driver_->cancel(*this);
    } else {
      thread()->executor->blocking_pool().cancel(*this);
    }
  }
  return true;
}

void OperationWait::withdraw() noexcept {
  require(!in_flight, "an operation is taken back while the kernel has it");
}

void OperationWait::completed() noexcept {
  if (more) return;
  if (result == -EINTR && driver_ != nullptr && kind != Kind::close) {
    if (!cancel_asked) return driver_->start(*this);
    result = -ECANCELED;
  }
  in_flight = false;
  Executor& executor = *thread()->executor;
  executor.operation_ended();
  const bool by_cancel = cancel_asked && result == -ECANCELED && thread()->cancelled != 0;
  thread()->wait_failed = by_cancel ? 1 : 0;
  wake();
}

}  // namespace bide
