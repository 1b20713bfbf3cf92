#include <bide/executor/blocking_pool.hpp>

#include <cerrno>
#include <csignal>
#include <new>
#include <system_error>

#include <unistd.h>

namespace bide {

namespace {

// Operation::driver_word, 0 before these.
constexpr std::uint32_t begun = 1;
constexpr std::uint32_t has_ended = 2;

/// Blocks all signals of the calling OS thread for a while, so that those it starts inherit that.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

void BlockingPool::List::push(Operation& operation) {
  operation.next = nullptr;
  operation.previous = last;
  (last != nullptr ? last->next : first) = &operation;
  last = &operation;
}

Operation* BlockingPool::List::pop() {
  Operation* const operation = first;
  if (operation != nullptr) remove(*operation);
  return operation;
}

void BlockingPool::List::remove(Operation& operation) {
  (operation.previous != nullptr ? operation.previous->next : first) = operation.next;
  (operation.next != nullptr ? operation.next->previous : last) = operation.previous;
}

BlockingPool::BlockingPool(std::size_t thread_limit, PostBox& told)
    : told_(told), thread_limit_(thread_limit), process_(::getpid()), threads_(std::make_unique<Threads>()) {
  require(thread_limit > 0, "ExecutorOptions::blocking_threads is 0");
  threads_->made.reserve(std::min<std::size_t>(thread_limit, 256));
}

BlockingPool::~BlockingPool() {
  if (in_child()) {
    static_cast<void>(threads_.release());
    return;
  }
  {
    const std::lock_guard guard(threads_->mutex);
    require(waiting_.first == nullptr, "a BlockingPool is destroyed with work that waits");
    closed_ = true;
  }
  threads_->work_waits.notify_all();
  for (std::thread& thread : threads_->made) thread.join();
}

bool BlockingPool::in_child() const { return ::getpid() != process_; }

// In a forked child nobody will ever unlock what one of the parent's threads had locked, nor is there need of a lock.
std::unique_lock<std::mutex> BlockingPool::lock() {
  std::unique_lock lock(threads_->mutex, std::defer_lock);
  if (!in_child()) lock.lock();
  return lock;
}

void BlockingPool::start(Operation& operation) noexcept {
  {
    const auto guard = lock();
    if (!guard.owns_lock()) return end(operation, -EPERM);
    operation.driver_word = 0;
    waiting_.push(operation);
    ++waiting_count_;
    if (waiting_count_ > idle_ && threads_->made.size() < thread_limit_) {
      const int error = add_thread();
      if (error != 0 && threads_->made.empty())
        return end_waiting(operation, -error);  // nobody would ever take it
    }
  }
  threads_->work_waits.notify_one();
}

void BlockingPool::cancel(Operation& operation) noexcept {
  const auto guard = lock();
  if (operation.driver_word == 0) return end_waiting(operation, -ECANCELED);
  if (guard.owns_lock() || operation.driver_word == has_ended) return;  // it has begun, or has ended
  end(operation, -ECANCELED);
}

void BlockingPool::end_waiting(Operation& operation, std::int64_t result) noexcept {
  waiting_.remove(operation);
  --waiting_count_;
  end(operation, result);
}

void BlockingPool::end(Operation& operation, std::int64_t result) noexcept {
  operation.driver_word = has_ended;
  operation.result = result;
  ended_.push(operation);
  if (end_awaited_) threads_->end_waits.notify_one();
  told_.nudge();
}

// Returns: 0, or the errno.
int BlockingPool::add_thread() noexcept {
  try {
    const SignalsBlocked blocked;
    threads_->made.emplace_back(&BlockingPool::work, this);
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

void BlockingPool::collect() noexcept {
  for (;;) {
    Operation* operation = nullptr;
    {
      const auto guard = lock();
      operation = ended_.pop();
    }
    if (operation == nullptr) return;
    operation->more = false;
    operation->completed();
  }
}

void BlockingPool::wait_for_end() noexcept {
  auto guard = lock();
  if (!guard.owns_lock()) return;
  end_awaited_ = true;
  threads_->end_waits.wait(guard, [this] { return ended_.first != nullptr; });
  end_awaited_ = false;
}

void BlockingPool::work() {
  std::unique_lock guard(threads_->mutex);
  for (;;) {
    ++idle_;
    threads_->work_waits.wait(guard, [this] { return closed_ || waiting_.first != nullptr; });
    --idle_;
    Operation* const operation = waiting_.pop();
    if (operation == nullptr) return;
    --waiting_count_;
    operation->driver_word = begun;
    guard.unlock();
    const std::int64_t result = operation->call_blocking();
    guard.lock();
    end(*operation, result);
  }
}

}  // namespace bide
