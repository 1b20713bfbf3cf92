#include <algorithm>

#include <bide/executor/sync/named.hpp>
#include <bide/executor/sync/rate_limiter.hpp>

namespace bide {

RateLimiter::RateLimiter(Rate rate, std::uint64_t burst, const char* name)
    : rate_(rate), burst_(burst), name_(name) {
  require(rate.count > 0 && rate.per > Duration::zero() && burst > 0,
          "a RateLimiter that lets nothing through");
  level_ = level_of(burst);
}

bool RateLimiter::try_acquire(std::uint64_t tokens) {
  fill(bide::now());
  if (level_ < level_of(tokens)) return false;
  if (!waiters_.empty() && (running.thread == nullptr || !waiters_.would_be_first(*running.thread)))
    return false;
  level_ -= level_of(tokens);
  return true;
}

std::uint64_t RateLimiter::available() {
  fill(bide::now());
  return static_cast<std::uint64_t>(level_ / level_of(1));
}

void RateLimiter::fill(Instant now) {
  const Duration passed = std::max(subtract_saturating(now, filled_at_), Duration::zero());
  filled_at_ = now;
  const Level more = Level{rate_.count} * static_cast<std::uint64_t>(passed.count());
  level_ = std::min(level_of(burst_), level_ + more);
}

// A waiter in a select withdraws its other arms when it is served, perhaps from here: the loop sees to those.
void RateLimiter::serve() {
  if (serving_ || waiters_.empty()) return;
  serving_ = true;
  fill(executor_->now());
  for (QueuedWait* first; (first = waiters_.first()) != nullptr;) {
    auto* const acquire = static_cast<Acquire*>(first);
    if (level_ < level_of(acquire->tokens_)) break;
    level_ -= level_of(acquire->tokens_);
    waiters_.remove(*acquire);
    acquire->wake();
  }
  serving_ = false;
  wake_at_turn();
}

// The one timer is for whoever goes first.
void RateLimiter::wake_at_turn() {
  disarm();
  if (waiters_.empty()) return;
  fill(executor_->now());
  const Level wanted = level_of(static_cast<Acquire*>(waiters_.first())->tokens_);
  const Level missing = wanted > level_ ? wanted - level_ : 0;
  // At least a nanosecond: who came to the front by its rank alone may find its tokens there.
  const Level wait = std::max<Level>((missing + rate_.count - 1) / rate_.count, 1);
  const Duration left = subtract_saturating(Instant::max(), filled_at_);
  if (wait > static_cast<std::uint64_t>(left.count()))
    return;  // never: time ends before the tokens are there
  arm(*executor_, filled_at_ + Duration(static_cast<std::int64_t>(wait)));
}

std::string RateLimiter::Acquire::describe() const {
  return std::to_string(tokens_) + (tokens_ == 1 ? " token" : " tokens") + " of " +
         named("rate limiter", limiter_.name_);
}

}  // namespace bide
