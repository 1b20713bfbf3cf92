#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

#include <bide/executor/frame.hpp>
#include <bide/queue/run_queue.hpp>
#include <bide/timers/instant.hpp>
#include <bide/timers/timer_list.hpp>

namespace bide {

class CancelScope;
struct Debts;
class Executor;
class SleepUntil;
class Wait;

/// What the run queue holds for the executor: a green thread, or a function given to `post`.
struct Runnable : QueueNode {
  enum class State : std::uint8_t {
    ready,     // in the run queue
    running,   // its frame is being resumed, or is to be resumed next
    sleeping,  // on the timer list
    waiting,   // on a Wait
    ended,     // its root task has finished
    posted,    // not a thread: a function given to post
  };
  enum class Disposal : std::uint8_t { run, drop };
  using Call = void (*)(Runnable& self, Disposal);

  Runnable(Priority of_work, Frame& first) : QueueNode(of_work), leaf(&first) {}
  Runnable(Priority of_work, Call posted) : QueueNode(of_work), state(State::posted), call(posted) {}

  State state = State::ready;
  std::uint8_t cancelled = 0;  // the innermost scope is cancelled: the next wait throws
  union {
    Frame* leaf;  // a thread: the innermost frame of its awaits, where the next resume goes
    Call call;    // a posted function: runs it or not, and frees its memory
  };
};

/// What a timer releases: a sleeping thread, the deadline of a scope, or a TimedCall.
struct Alarm : Timer {
  enum class Wakes : std::uint8_t { thread, scope, call };
  explicit Alarm(Wakes kind) : wakes(kind) {}
  Wakes wakes;
};

/// A submitted task with all that it awaits: the executor's record of it.
///
/// Lives inside the frame of the thread's root task: a submit is one allocation, and a resume touches
/// neighbouring cache lines. Made by submit, destroyed with the root frame.
///
/// Invariants: in the run queue iff `state` is ready; on the timer list iff sleeping; `wait()` holds iff
/// waiting, `sleep()` iff sleeping; at most one thread of an executor is running.
struct GreenThread final : Runnable, Alarm {
  GreenThread(Executor& owner, Frame& root, std::uint64_t number, Priority of_its_own, const char* shown_as)
      : Runnable(of_its_own, root),
        Alarm(Wakes::thread),
        own_priority(of_its_own),
        rank(of_its_own),
        executor(&owner),
        id(number),
        name(shown_as) {}

  std::uint8_t cancel_requested = 0;  // the whole thread is cancelled
  std::uint8_t wait_failed = 0;       // the wait that has just ended did so by a cancel
  Priority own_priority;
  Priority rank;                 // the class it runs at: its own, or one that it inherits
  std::uint16_t locks = 0;       // mutexes that it holds: none may be left when it ends
  std::uint32_t table_index;     // in the executor's ThreadTable
  CancelScope* scope = nullptr;  // innermost, nullptr outside any
  Debts* debts = nullptr;        // what others wait for; nullptr until somebody has
  Executor* executor;
  std::uint64_t id;  // from 1 in submit order
  const char* name;

  Frame& root() const {
    auto* self = reinterpret_cast<std::byte*>(const_cast<GreenThread*>(this));
    return *reinterpret_cast<Frame*>(self - offsetof(Frame, thread_record));
  }
  std::source_location submitted_at() const { return root().where; }

  // A thread that is not in the run queue has no sequence number: its place holds what it waits for instead.
  // A million sleepers notice eight bytes.
  void waits(Wait& on) {
    state = State::waiting;
    sequence = reinterpret_cast<std::uintptr_t>(&on);
  }
  void sleeps(SleepUntil& on) {
    state = State::sleeping;
    sequence = reinterpret_cast<std::uintptr_t>(&on);
  }
  Wait& wait() const { return *reinterpret_cast<Wait*>(sequence); }
  SleepUntil& sleep() const { return *reinterpret_cast<SleepUntil*>(sequence); }
  void locked() {
    require(locks < UINT16_MAX, "a thread holds too many locks");
    ++locks;
  }
  void unlocked() {
    if (state == State::ended) [[unlikely]]
      return unlocked_at_end();
    --locks;
  }
  void unlocked_at_end();
  /// Nothing of it is left but the root's frame, nor was there ever anything else to look after.
  bool ends_plainly() const {
    const auto number = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    return (number(scope) | number(urgency) | number(debts) | locks) == 0 && leaf == &root();
  }
  bool suspended() const { return state == State::waiting || state == State::sleeping; }
};

static_assert(sizeof(GreenThread) <= Frame::thread_record_bytes);
static_assert(alignof(GreenThread) <= alignof(Frame));

/// The executor whose loop runs on this OS thread, and the green thread that it is resuming.
struct Running {
  Executor* executor = nullptr;
  GreenThread* thread = nullptr;
  const Instant* now = nullptr;       // the executor's time, as the loop last saw it
  std::source_location yielded_at{};  // the latest Yield
  Frame* dropped = nullptr;           // tasks to destroy, see drop_not_started
  std::uint32_t drop_depth = 0;
};
inline constinit thread_local Running running;

}  // namespace bide
