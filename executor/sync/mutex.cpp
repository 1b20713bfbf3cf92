#include <bide/executor/sync/mutex.hpp>
#include <bide/executor/sync/named.hpp>

namespace bide {

Mutex::~Mutex() {
  if (!locked()) return;
  const bool owner_goes =
      !owner_.holder()->executor->in_run() || owner_.holder()->state == Runnable::State::ended;
  require(owner_goes, "a Mutex is destroyed while it is locked");
  owner_.holder()->unlocked();
  *kept_in_ = nullptr;  // outside of a run, as after a Deadlock, the owner may be the one that goes later
}

Mutex::Guard Mutex::try_lock(std::source_location where) {
  require(running.thread != nullptr, "a Mutex is locked outside of a green thread");
  if (locked()) return Guard();
  owner_.hold(*running.thread);
  locked_at_ = where;
  running.thread->locked();
  return Guard(*this);
}

void Mutex::unlock() {
  const GreenThread* owner = owner_.holder();
  require(running.thread == owner || owner->state == Runnable::State::ended,
          "a Mutex is unlocked by another thread than its owner");
  hand_over();
}

// The waiter owns the mutex before it becomes ready, so that nobody can come between.
void Mutex::hand_over() {
  GreenThread& owner = *owner_.holder();
  owner_.let_go();
  owner.unlocked();
  if (QueuedWait* next = waiters_.take_first(); next != nullptr) static_cast<Lock*>(next)->serve();
}

std::vector<const GreenThread*> Mutex::Lock::waits_for() const {
  if (!mutex_.locked()) return {};
  return {mutex_.owner_.holder()};
}

std::optional<std::source_location> Mutex::Lock::taken_at() const {
  if (!mutex_.locked()) return std::nullopt;
  return mutex_.locked_at_;
}

std::string Mutex::Lock::describe() const {
  const std::string name = named("mutex", mutex_.name_);
  if (!mutex_.locked()) return name;  // it is just being handed over
  return name + " held by thread " + std::to_string(mutex_.owner_.holder()->id);
}

}  // namespace bide
