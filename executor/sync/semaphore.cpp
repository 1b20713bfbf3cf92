#include <bide/executor/sync/named.hpp>
#include <bide/executor/sync/semaphore.hpp>

namespace bide {

// A waiter in a select withdraws its other arms when it is served, perhaps from here: the loop sees to those.
void Semaphore::serve() {
  if (serving_) return;
  serving_ = true;
  for (QueuedWait* first; (first = waiters_.first()) != nullptr;) {
    auto* const acquire = static_cast<Acquire*>(first);
    if (acquire->permits_ > value_) break;
    value_ -= acquire->permits_;
    waiters_.remove(*acquire);
    acquire->wake();
  }
  serving_ = false;
}

std::string Semaphore::Acquire::describe() const {
  return std::to_string(permits_) + (permits_ == 1 ? " permit" : " permits") + " of " +
         named("semaphore", semaphore_.name_) + ", which has " + std::to_string(semaphore_.value_);
}

}  // namespace bide
