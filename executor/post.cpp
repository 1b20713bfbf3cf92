#include <bide/executor/post.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bide/executor/driver.hpp>
#include <bide/timers/clock.hpp>

namespace bide {

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

}  // namespace

bool PostBox::push(std::uint64_t source, Runnable* call) {
  try {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      items_.push_back({source, posts_++, call});
      call = nullptr;
      pending_.store(true, std::memory_order_seq_cst);
    }
  } catch (...) {
    call->call(*call, Runnable::Disposal::drop);
    throw;
  }
  if (call != nullptr) {
    call->call(*call, Runnable::Disposal::drop);  // outside the lock: its destructor may post
    return false;
  }
  wake_up();
  return true;
}

void PostBox::nudge() {
  pending_.store(true, std::memory_order_seq_cst);
  wake_up();
}

// Either this exchange sees the executor asleep, or the executor sees `pending_` before it falls asleep.
void PostBox::wake_up() {
  switch (asleep_.exchange(awake, std::memory_order_seq_cst)) {
    case in_futex:
      futex(asleep_, FUTEX_WAKE, 1, nullptr);
      break;
    case in_driver:
      ::eventfd_write(wake_descriptor_, 1);
      break;
    default:
      break;
  }
}

void PostBox::take(std::vector<Runnable*>& out) {
  {
    const std::lock_guard lock(mutex_);
    out.reserve(out.size() + items_.size());  // before anything is taken
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
    asleep_.store(in_futex, std::memory_order_seq_cst);
    if (!pending_.load(std::memory_order_seq_cst)) {
      // A kernel refuses seconds that overflow its own clock; a day is as good as for ever, the loop looks again.
      const std::int64_t nanoseconds = std::min<std::int64_t>((end - now).count(), 86'400'000'000'000);
      const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
      futex(asleep_, FUTEX_WAIT, in_futex, &timeout);
    }
    asleep_.store(awake, std::memory_order_seq_cst);
  }
}

void PostBox::wait_in(Driver& driver, Duration longest) {
  asleep_.store(in_driver, std::memory_order_seq_cst);
  if (!pending_.load(std::memory_order_seq_cst)) driver.wait(longest);
  asleep_.store(awake, std::memory_order_relaxed);  // who sees that late wakes it once more, for nothing
}

int PostBox::wake_descriptor() {
  if (wake_descriptor_ < 0) {
    wake_descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  return wake_descriptor_;
}

PostBox::~PostBox() {
  if (wake_descriptor_ >= 0) ::close(wake_descriptor_);
}

void PostBox::close() {
  std::vector<Item> left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left.swap(items_);  // `pending_` stays: what has ended elsewhere is still to be collected
  }
  for (const Item& item : left) item.call->call(*item.call, Runnable::Disposal::drop);
}

}  // namespace bide
