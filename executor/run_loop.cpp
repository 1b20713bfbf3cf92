#include <algorithm>

#include <bide/executor/blocking_pool.hpp>
#include <bide/executor/deadline_scope.hpp>
#include <bide/executor/executor.hpp>
#include <bide/executor/group_scope.hpp>
#include <bide/executor/timed_call.hpp>

// The loop. A turn: ready threads in order, then a look outside; with nothing ready, time passes.
// It is the one place that resumes a frame: an awaiter stores where to go on, and returns to here. That keeps
// the stack flat with every compiler, and gives observer, digest and order one place. Symmetric transfer would
// save a few nanoseconds an await, but is recursion in g++ 12 below -O2 and under its sanitizers.

namespace bide {

// Runs until nothing will happen up to and including the limit.
void Executor::drive(Instant limit) {
  for (;;) {
    run_ready(options_.resumes_per_turn);
    do {
      look_outside();
      check_progress();
      if (now_ > limit && !virtual_time_) {  // threads that never wait would go on for ever
        run_ready(static_cast<std::uint32_t>(ready_.size()));
        return;
      }
      if (ready_.empty() && !goes_on(limit)) return;
    } while (ready_.empty());
  }
}

// Returns how many had their turn.
std::uint32_t Executor::run_ready(std::uint32_t most) {
  return watched_ ? give_turns<Watched::yes>(most) : give_turns<Watched::no>(most);
}

template <Executor::Watched watched>
inline std::uint32_t Executor::give_turns(std::uint32_t most) {
  for (std::uint32_t done = 0; done < most; ++done) {
    QueueNode* const node = watched == Watched::yes ? choose_ready() : ready_.pop(now_.time_since_epoch());
    if (node == nullptr) return done;
    auto& next = static_cast<Runnable&>(*node);
    if (next.state == Runnable::State::posted) [[unlikely]] {
      call(next);
    } else {
      resume<watched>(static_cast<GreenThread&>(next));
    }
  }
  return most;
}

QueueNode* Executor::choose_ready() {
  if (options_.chooser == nullptr) return ready_.pop(now_.time_since_epoch());
  ready_.equals(now_.time_since_epoch(), equals_);
  if (equals_.size() <= 1) return ready_.pop(now_.time_since_epoch());
  const auto& first = static_cast<const Runnable&>(*equals_.front());
  const std::uint64_t subject =
      first.state == Runnable::State::posted ? 0 : static_cast<const GreenThread&>(first).id;
  const std::size_t chosen = options_.chooser->choose(Choice::ready_thread, equals_.size(), subject);
  require(chosen < equals_.size(), "a Chooser chose what is not there");
  if (chosen == 0) return ready_.pop(now_.time_since_epoch());  // which counts for promotion
  ready_.remove(*equals_[chosen]);
  return equals_[chosen];
}

template <Executor::Watched watched>
inline void Executor::resume(GreenThread& thread) {
  ++resumes_;
  if (watched == Watched::yes && tracing_) trace(thread, ScheduleDigest::Event::resumed);
  running.thread = &thread;
  thread.state = Runnable::State::running;
  const bool timed = watched == Watched::yes && stall_watch_;
  const Instant begun = timed ? RealClock().now() : Instant();
  do {
    thread.leaf->handle().resume();  // starts or ends a child, and stays running; or suspends
  } while (thread.state == Runnable::State::running);
  if (entered_deadlines_ != nullptr) [[unlikely]]
    arm_entered_deadlines();
  if (timed) tell_stall(thread, begun);
  if (thread.state == Runnable::State::ended) finish<watched>(thread);
}

// The root task has ended: tells who waits for it, and destroys the frame.
template <Executor::Watched watched>
inline void Executor::finish(GreenThread& thread) {
  running.thread = nullptr;
  resumes_at_progress_ = resumes_;
  if (watched == Watched::yes && tracing_) trace(thread, ScheduleDigest::Event::ended);
  if (thread.root().result != nullptr) deliver(thread);
  if (thread.ends_plainly()) [[likely]] {
    threads_.remove(thread);
    thread.root().handle().destroy();
  } else {
    destroy(thread);
  }
  if (guests_asking_ != 0) [[unlikely]]
    tell_of_room();
}

void Executor::check_progress() const {
  if (options_.livelock_after == 0 || !virtual_time_) return;
  if (resumes_ - resumes_at_progress_ > options_.livelock_after)
    throw Livelock(now_, describe_busy_threads());
}

void Executor::call(Runnable& posted) {
  running.thread = nullptr;
  --resumes_at_progress_;  // a turn like a resume: posts that follow one another for ever get nowhere either
  try {
    posted.call(posted, Runnable::Disposal::run);
  } catch (...) {
    detached_failed(std::current_exception());
  }
}

void Executor::deliver(GreenThread& thread) {
  // Before what may fail for want of memory: the Handle may go before this thread's record does.
  ResultSlot& result = *std::exchange(thread.root().result, nullptr);
  result.thread = nullptr;
  JoinWait* const joiner = result.joiner;
  if (result.state() == ResultSlot::State::failed) [[unlikely]]
    return deliver_error(thread, result, joiner);
  if (joiner != nullptr) joiner->woken();
}

void Executor::deliver_error(GreenThread& thread, ResultSlot& result, JoinWait* joiner) {
  if (joiner != nullptr) joiner->woken();  // before the group: its cancel must not take the result from here
  if (GroupScope* const group = GroupScope::of(thread); group != nullptr) {
    result.tell();
    group->fail(result.error());
  } else if (joiner == nullptr) {
    keep_error(result);
  }
}

// From the innermost frame outwards, in a loop: nested destructors of a deep chain would overflow any stack.
void Executor::destroy(GreenThread& thread) noexcept {
  Frame& root = thread.root();
  for (Frame* frame = thread.leaf; frame != &root;) {
    ResultSlot& await = *frame->result;
    await.child = nullptr;
    thread.leaf = await.awaiting;  // a destructor may ask how the threads stand
    frame->handle().destroy();
    frame = thread.leaf;
  }
  if (thread.scope != nullptr) GroupScope::ended(thread);
  Debts* const debts = thread.debts;
  Urgency* const own_urgency = debts != nullptr ? debts->own_urgency : thread.urgency;
  threads_.remove(thread);
  locks_at_end_ = thread.locks;
  thread.leaf = nullptr;
  root.handle().destroy();  // which may let go of more: of locks that are arguments, or when it was suspended
  require(locks_at_end_ == 0, "a thread ends while it holds a lock: the Guard is elsewhere");
  if (own_urgency != nullptr || debts != nullptr) free_ranking(own_urgency, debts);
}

// The count outlives the record, which goes with the root frame. Where the executor goes, all threads have
// ended, and a Guard in one's frame may be another's.
void GreenThread::unlocked_at_end() { --(leaf == nullptr ? executor->locks_at_end_ : locks); }

void Executor::wake_traced(GreenThread& thread) {
  make_ready(thread);
  trace(thread, ScheduleDigest::Event::woken);
}

void Executor::sleep(GreenThread& thread, SleepUntil& sleep) {
  if (sleep.due() <= now_ || (!virtual_time_ && sleep.due() <= now())) {
    running.yielded_at = sleep.where();
    return make_ready(thread);
  }
  timers_.arm(thread, sleep.due());
  sleep.time_ = now_;
  thread.sleeps(sleep);
}

// Due timers, then completions, then posts. In virtual time no timer is due before time has passed. In real time, where
// nobody could use the time before then, it is read once somebody can: a wait has two such looks, and a reading costs as
// much as five switches.
void Executor::look_outside() {
  if (virtual_time_) return take_from_outside();
  const bool time_first = !ready_.empty() || !timers_.empty();
  if (time_first) see_time();
  take_from_outside();
  if (!time_first && !ready_.empty()) see_time();
}

void Executor::see_time() {
  now_ = now();
  if (!timers_.empty()) release_due(now_);
}

void Executor::take_from_outside() {
  if (driver_ != nullptr) {
    if (ready_.empty() && !post_box_->pending()) {
      driver_->collect_before_wait();
    } else {
      driver_->collect();
    }
  }
  if (!post_box_->pending()) return;
  post_box_->take(posts_);
  if (blocking_pool_ != nullptr) blocking_pool_->collect();
  std::size_t taken = 0;
  try {
    for (; taken < posts_.size(); ++taken) ready_.push(*posts_[taken]);
  } catch (...) {  // no memory: the rest waits for the next look
    posts_.erase(posts_.begin(), posts_.begin() + static_cast<std::ptrdiff_t>(taken));
    post_box_->nudge();
    throw;
  }
  posts_.clear();
}

void Executor::arm_entered_deadlines() {
  while (entered_deadlines_ != nullptr) {
    DeadlineScope& scope = *entered_deadlines_;
    entered_deadlines_ = scope.entered_before_;
    timers_.arm(scope, scope.due_, scope.place_);
  }
}

// All timers of one instant become ready in the order in which they were armed, then those of the next.
void Executor::release_due(Instant upto) {
  const auto fire = [this](Timer& timer) noexcept {
    auto& alarm = static_cast<Alarm&>(timer);
    switch (alarm.wakes) {
      case Alarm::Wakes::thread:
        return wake(static_cast<GreenThread&>(alarm));
      case Alarm::Wakes::scope:
        return static_cast<DeadlineScope&>(alarm).expire();
      case Alarm::Wakes::call:
        return static_cast<TimedCall&>(alarm).due();
    }
  };
  if (virtual_time_) {
    do {
      timers_.release(upto, fire);
    } while (timers_.any_due(upto));
    return;
  }
  for (;;) {
    const Instant due = timers_.next_due().value_or(Instant::max());
    const std::size_t count = timers_.release(upto, fire);
    if (count == 0) return;
    for (std::size_t timer = 0; timer < count; ++timer) lateness_->add(now_ - due);
  }
}

// Nothing is ready. False: nothing will be up to the limit; what was started goes out all the same.
bool Executor::goes_on(Instant limit) {
  if (phase_ != Phase::open && threads_.empty())
    return false;  // stopped: what calls are to come is for the next run
  if (pass_time(limit)) return true;
  if (driver_ == nullptr) return false;
  driver_->collect();
  return !ready_.empty();
}

// False: time alone makes nothing ready up to the limit.
bool Executor::pass_time(Instant limit) {
  if (virtual_time_ && operations_ > 0) {
    wait_for_operation();
    return true;
  }
  const Instant due = timers_.next_due().value_or(Instant::max());
  const bool any_due = timers_.any_due(limit);
  if (any_due && virtual_time_) {
    move_time(due);
    release_due(due);
    return true;
  }
  if (limit == Instant::max() && !any_due) return wait_for_outside();
  if (virtual_time_) return false;
  if (!any_due) now_ = now();  // which nobody had need of before
  const Instant until = any_due ? due : limit;
  if (until <= now_) return false;
  wait_outside(until - now_);
  return true;
}

void Executor::move_time(Instant to) {
  const Instant from = std::exchange(now_, to);
  ++ticks_;
  resumes_at_progress_ = resumes_;
  if (options_.digest == ExecutorOptions::Digest::on) {
    digest_.add(now_, Priority::low, ticks_, 0, ScheduleDigest::Event::time_moved);
  }
  if (options_.observer != nullptr) options_.observer->time_moved(from, to);
}

}  // namespace bide
