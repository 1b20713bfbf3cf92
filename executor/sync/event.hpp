#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <source_location>
#include <string>

#include <bide/executor/wait_queue.hpp>

namespace bide {

/// A flag to wait for.
///
/// Order:  `set` lets all waiters through, higher class first, then who came first. They are through for good:
///         a `reset` before they run changes nothing for them.
/// Cancel: a waiter withdraws in O(1).
/// Cost:   wait O(1), set O(waiters); no allocation.
class Event {
 public:
  class Wait;

  /// The name is shown in reports. Not copied.
  explicit Event(const char* name = nullptr) : name_(name) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// `co_await event.wait()`: goes on when it is set, or has been set meanwhile.
  ///
  /// Suspends: unless it is set. Cancellation point, also when it is set.
  /// Throws:   Cancelled.
  [[nodiscard]] Wait wait(std::source_location where = std::source_location::current());

  /// Plain calls, from anywhere on the executor's OS thread. Twice is once.
  void set();
  void reset() { set_ = false; }
  bool is_set() const { return set_; }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  bool set_ = false;
  WaitQueue waiters_;
  const char* name_;
};

/// The wait for an Event.
class [[nodiscard]] Event::Wait final : public QueuedWait {
 public:
  Wait(Event& event, std::source_location where) : QueuedWait(where), event_(event) {}

  bool await_ready() { return enter() || event_.set_; }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(event_.waiters_, frame.promise());
  }
  void await_resume() const { finish(); }

  std::string describe() const override;
  std::string remedy() const override { return "set it"; }

 private:
  friend class Event;
  Event& event_;
};

inline Event::Wait Event::wait(std::source_location where) { return Wait(*this, where); }

inline void Event::set() {
  set_ = true;
  while (QueuedWait* next = waiters_.take_first()) static_cast<Wait*>(next)->wake();
}

}  // namespace bide
