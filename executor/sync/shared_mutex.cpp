#include <bide/executor/sync/named.hpp>
#include <bide/executor/sync/shared_mutex.hpp>

namespace bide {

SharedMutex::~SharedMutex() {
  for (Hold* hold = first_hold_; hold != nullptr; hold = hold->next) {
    const bool holder_goes =
        !hold->thread->executor->in_run() || hold->thread->state == Runnable::State::ended;
    require(holder_goes, "a SharedMutex is destroyed while it is locked");
    // Outside of a run, as after a Deadlock, the holder may be the one that goes later.
    hold->mutex = nullptr;
    hold->thread->unlocked();
  }
}

SharedMutex::Guard SharedMutex::try_lock(Mode mode) {
  require(running.thread != nullptr, "a SharedMutex is locked outside of a green thread");
  Guard guard;
  if (admits(mode, *running.thread)) grant(guard.hold_, mode, *running.thread);
  return guard;
}

bool SharedMutex::admits(Mode mode, const GreenThread& thread) const {
  const bool free = mode == Mode::shared ? !locked() : holder_count_ == 0;
  return free && waiters_.would_be_first(thread);
}

void SharedMutex::grant(Hold& hold, Mode mode, GreenThread& thread) {
  hold.mutex = this;
  hold.thread = &thread;
  link(hold);
  ++holder_count_;
  thread.locked();
  if (mode == Mode::exclusive) writer_.hold(thread);
}

// A waiter in a select withdraws its other arms when it is served, perhaps from here: the loop sees to those.
void SharedMutex::serve() {
  if (serving_) return;
  serving_ = true;
  for (QueuedWait* first; (first = waiters_.first()) != nullptr;) {
    auto* const lock = static_cast<Lock*>(first);
    if (locked() || (lock->mode_ == Mode::exclusive && holder_count_ > 0)) break;
    waiters_.remove(*lock);
    lock->wake();
    grant(lock->granted_, lock->mode_, *lock->thread());
  }
  serving_ = false;
}

void SharedMutex::link(Hold& hold) {
  hold.previous = nullptr;
  hold.next = first_hold_;
  if (hold.next != nullptr) hold.next->previous = &hold;
  first_hold_ = &hold;
}

void SharedMutex::unlink(Hold& hold) {
  (hold.previous != nullptr ? hold.previous->next : first_hold_) = hold.next;
  if (hold.next != nullptr) hold.next->previous = hold.previous;
}

void SharedMutex::Hold::take_from(Hold& other) noexcept {
  if (other.mutex == nullptr) return;
  mutex = std::exchange(other.mutex, nullptr);
  thread = other.thread;
  mutex->unlink(other);
  mutex->link(*this);
}

void SharedMutex::Hold::unlock() {
  if (mutex == nullptr) return;
  require(running.thread == thread || thread->state == Runnable::State::ended,
          "a SharedMutex is unlocked by another thread than the one that locked it");
  SharedMutex& unlocked = *std::exchange(mutex, nullptr);
  unlocked.unlink(*this);
  --unlocked.holder_count_;
  if (unlocked.locked()) unlocked.writer_.let_go();
  thread->unlocked();
  if (!unlocked.waiters_.empty()) unlocked.serve();
}

SharedMutex::Guard SharedMutex::Lock::await_resume() {
  finish();
  require(granted_.mutex != nullptr, "a SharedMutex was destroyed while a thread was about to have it");
  Guard guard;
  guard.hold_.take_from(granted_);
  return guard;
}

// A reader that could read beside the holders waits for a writer that came before it.
std::vector<const GreenThread*> SharedMutex::Lock::waits_for() const {
  if (mode_ == Mode::shared && !mutex_.locked() && !mutex_.waiters_.empty()) {
    const GreenThread* const ahead = static_cast<const Lock*>(mutex_.waiters_.first())->thread();
    if (ahead != thread()) return {ahead};
  }
  std::vector<const GreenThread*> holders;
  for (const Hold* hold = mutex_.first_hold_; hold != nullptr; hold = hold->next)
    holders.push_back(hold->thread);
  return holders;
}

std::string SharedMutex::Lock::describe() const {
  const std::string name = named("shared mutex", mutex_.name_);
  const std::vector<const GreenThread*> threads = waits_for();
  if (threads.empty()) return name;  // it is just being handed over
  const std::string who = "thread " + std::to_string(threads.front()->id);
  if (mutex_.locked()) return name + " written by " + who;
  if (mode_ == Mode::shared) return name + " behind " + who;
  const std::size_t others = threads.size() - 1;
  return name + " read by " + who + (others > 0 ? " and " + std::to_string(others) + " more" : "");
}

}  // namespace bide
