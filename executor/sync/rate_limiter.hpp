#pragma once

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string>

#include <bide/executor/timed_call.hpp>
#include <bide/executor/wait_queue.hpp>

namespace bide {

/// `Rate(2)` is two a second, `Rate(5, 1min)` five a minute.
struct Rate {
  constexpr Rate(std::uint64_t tokens, Duration span = std::chrono::seconds(1)) : count(tokens), per(span) {}
  constexpr Rate(std::floating_point auto tokens,
                 Duration = {}) = delete;  // half a token a second: Rate(1, 2s)
  std::uint64_t count;
  Duration per;
};

/// A token bucket: lets `rate` through in the long run, and up to `burst` at once after a pause.
///
/// Starts full. Tokens come in continuously, in exact integers: nothing drifts, and a wait ends at the first
/// nanosecond at which its tokens are there.
/// Order:  higher class first, then who came first, whatever the amount. No barging.
/// Cancel: a waiter withdraws in O(1) and has taken nothing. Who was served has its tokens.
/// Clock:  that of the executor whose threads use it. Virtual time jumps to the instant of the next token.
/// Cost:   acquire O(1) and at most one timer, whatever the number of waiters; no allocation.
/// Source: J. Turner, "New directions in communications", 1986 (leaky bucket as a meter)
class RateLimiter final : private TimedCall {
 public:
  class Acquire;

  /// Requires: rate and burst are positive. The name is shown in reports. Not copied.
  RateLimiter(Rate rate, std::uint64_t burst, const char* name = nullptr);
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  /// `co_await limiter.acquire(n)`: waits until the bucket holds `tokens`, and takes them.
  ///
  /// Suspends: unless they are there and nobody waits in front. Cancellation point: Cancelled has taken none.
  ///           Tokens that come after the last instant are never there: that waits for a cancel.
  /// Throws:   Cancelled.
  /// Requires: `tokens` is at most the burst, or it would wait for ever.
  [[nodiscard]] Acquire acquire(std::uint64_t tokens = 1,
                                std::source_location where = std::source_location::current());
  /// Takes them if `acquire` would not have to wait. Within a run, as is `available`.
  [[nodiscard]] bool try_acquire(std::uint64_t tokens = 1);

  /// Whole tokens in the bucket now.
  std::uint64_t available();
  std::uint64_t burst() const { return burst_; }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  __extension__ using Level = unsigned __int128;

  Level level_of(std::uint64_t tokens) const {
    return Level{tokens} * static_cast<std::uint64_t>(rate_.per.count());
  }
  void fill(Instant now);
  void serve();
  void wake_at_turn();
  void due() noexcept override { serve(); }

  Rate rate_;
  std::uint64_t burst_;
  Level level_;  // in tokens times rate_.per: grows by rate_.count a nanosecond
  Instant filled_at_ = Instant::min();
  Executor* executor_ = nullptr;  // of the waiters
  bool serving_ = false;
  WaitQueue waiters_;
  const char* name_;
};

/// The wait for tokens of a RateLimiter.
class [[nodiscard]] RateLimiter::Acquire final : public QueuedWait {
 public:
  Acquire(RateLimiter& limiter, std::uint64_t tokens, std::source_location where)
      : QueuedWait(where), limiter_(limiter), tokens_(tokens) {
    require(tokens <= limiter.burst_, "more is asked of a RateLimiter at once than its burst", where);
  }

  bool await_ready() { return enter() || limiter_.try_acquire(tokens_); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    park_in(limiter_.waiters_, frame.promise());
    limiter_.executor_ = thread()->executor;
    limiter_.wake_at_turn();
  }
  void await_resume() const { finish(); }

  void withdraw() noexcept override {
    QueuedWait::withdraw();
    if (limiter_.waiters_.empty()) limiter_.disarm();
  }
  void withdrawn() noexcept override { limiter_.serve(); }
  GreenThread* rank_changed() override {
    GreenThread* const holder = QueuedWait::rank_changed();
    if (queued()) limiter_.wake_at_turn();
    return holder;
  }
  std::string describe() const override;

 private:
  friend class RateLimiter;
  RateLimiter& limiter_;
  std::uint64_t tokens_;
};

inline RateLimiter::Acquire RateLimiter::acquire(std::uint64_t tokens, std::source_location where) {
  return Acquire(*this, tokens, where);
}

}  // namespace bide
