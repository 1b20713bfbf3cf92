#include <bide/executor/post.hpp>

#include <algorithm>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bide/timers/clock.hpp>

namespace bide {

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

}  // namespace

bool PostBox::push(std::uint64_t source, Runnable* call) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      items_.push_back({source, posts_++, call});
      call = nullptr;
      pending_.store(true, std::memory_order_seq_cst);
    }
  }
  if (call != nullptr) {
    call->call(*call, Runnable::Disposal::drop);  // outside the lock: its destructor may post
    return false;
  }
  // Either this exchange sees the executor asleep, or the executor sees `pending_` before it falls asleep.
  if (asleep_.exchange(0, std::memory_order_seq_cst) != 0) futex(asleep_, FUTEX_WAKE, 1, nullptr);
  return true;
}

void PostBox::take(std::vector<Runnable*>& out) {
  {
    const std::lock_guard lock(mutex_);
    taken_.swap(items_);
    pending_.store(false, std::memory_order_relaxed);
  }
  std::sort(taken_.begin(), taken_.end(), [](const Item& a, const Item& b) {
    return a.source != b.source ? a.source < b.source : a.number < b.number;
  });
  for (const Item& item : taken_) out.push_back(item.call);
  taken_.clear();
}

void PostBox::wait(Duration longest) {
  RealClock clock;
  const Instant end = add_saturating(clock.now(), longest);
  for (Instant now = clock.now(); now < end && !pending(); now = clock.now()) {
    asleep_.store(1, std::memory_order_seq_cst);
    if (!pending_.load(std::memory_order_seq_cst)) {
      // A kernel refuses seconds that overflow its own clock; a day is as good as for ever, the loop looks again.
      const std::int64_t nanoseconds = std::min<std::int64_t>((end - now).count(), 86'400'000'000'000);
      const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
      futex(asleep_, FUTEX_WAIT, 1, &timeout);
    }
    asleep_.store(0, std::memory_order_seq_cst);
  }
}

void PostBox::close() {
  std::vector<Item> left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left.swap(items_);
    pending_.store(false, std::memory_order_relaxed);
  }
  for (const Item& item : left) item.call->call(*item.call, Runnable::Disposal::drop);
}

}  // namespace bide
