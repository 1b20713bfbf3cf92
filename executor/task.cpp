#include <bide/executor/task.hpp>

namespace bide {

void ResultSlot::throw_error() {
  require(state_ != State::pending, "the result of a task is taken before the task ended");
  require(state_ != State::taken, "the result of a task is taken twice");
  state_ = State::taken;
  std::rethrow_exception(std::exchange(error_, nullptr));
}

// At once, with all that its arguments own; but tasks that are arguments of tasks may nest without end, and the stack has
// one: those further in wait in a list.
void drop_not_started(Frame& frame) noexcept {
  constexpr std::uint32_t deepest = 64;
  if (running.drop_depth == deepest) {
    // A task that never ran has no result to give, and nobody waits: the field serves as the link of the list.
    frame.result = reinterpret_cast<ResultSlot*>(running.dropped);
    running.dropped = &frame;
    return;
  }
  ++running.drop_depth;
  frame.handle().destroy();
  while (running.drop_depth == deepest && running.dropped != nullptr) {
    Frame& next = *running.dropped;
    running.dropped = reinterpret_cast<Frame*>(next.result);
    next.handle().destroy();
  }
  --running.drop_depth;
}

}  // namespace bide
