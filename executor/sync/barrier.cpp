#include <bide/executor/sync/barrier.hpp>
#include <bide/executor/sync/named.hpp>

namespace bide {

Barrier::Barrier(std::size_t size, const char* name) : size_(size), name_(name) {
  require(size > 0, "a Barrier for no thread");
}

void Barrier::arrive_and_drop() {
  require(size_ > 0, "more threads leave a Barrier than it has");
  --size_;
  if (waiters_.size() == size_ && !waiters_.empty()) let_through();
}

void Barrier::let_through() {
  ++generation_;
  while (QueuedWait* next = waiters_.take_first()) static_cast<Arrival*>(next)->wake();
}

std::string Barrier::Arrival::describe() const {
  const std::size_t missing = barrier_.size_ - barrier_.waiters_.size();
  return std::to_string(missing) + (missing == 1 ? " thread" : " threads") + " to arrive at " +
         named("barrier", barrier_.name_);
}

}  // namespace bide
