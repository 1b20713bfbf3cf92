#include <bide/executor/task.hpp>

namespace bide {

void ResultSlot::throw_error() {
  require(state_ != State::pending, "the result of a task is taken before the task ended");
  require(state_ != State::taken, "the result of a task is taken twice");
  state_ = State::taken;
  std::rethrow_exception(std::exchange(error_, nullptr));
}

void drop_not_started(Frame& frame) noexcept {
  // A task that never ran has no result to give, and nobody waits: the field serves as the link of the list.
  frame.result = reinterpret_cast<ResultSlot*>(running.dropped);
  running.dropped = &frame;
  if (running.dropping) return;
  running.dropping = true;
  while (running.dropped != nullptr) {
    Frame& next = *running.dropped;
    running.dropped = reinterpret_cast<Frame*>(next.result);
    next.handle().destroy();
  }
  running.dropping = false;
}

}  // namespace bide
