#include <bide/executor/sync/latch.hpp>
#include <bide/executor/sync/named.hpp>

namespace bide {

void Latch::count_down(std::size_t by) {
  require(by <= count_, "a Latch is counted down below 0");
  count_ -= by;
  if (count_ > 0) return;
  while (QueuedWait* next = waiters_.take_first()) static_cast<Wait*>(next)->wake();
}

std::string Latch::Wait::describe() const {
  return named("latch", latch_.name_) + " with " + std::to_string(latch_.count_) + " to go";
}

}  // namespace bide
