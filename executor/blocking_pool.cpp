#include <bide/executor/blocking_pool.hpp>

#include <cerrno>
#include <csignal>
#include <new>
#include <system_error>

namespace bide {

namespace {

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
    : told_(told), thread_limit_(thread_limit) {
  require(thread_limit > 0, "ExecutorOptions::blocking_threads is 0");
  threads_.reserve(thread_limit);
}

BlockingPool::~BlockingPool() {
  {
    const std::lock_guard lock(mutex_);
    require(waiting_.first == nullptr, "a BlockingPool is destroyed with work that waits");
    closed_ = true;
  }
  work_waits_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BlockingPool::start(Operation& operation) noexcept {
  {
    const std::lock_guard lock(mutex_);
    operation.driver_word = 0;
    waiting_.push(operation);
    ++waiting_count_;
    if (waiting_count_ > idle_ && threads_.size() < thread_limit_) {
      const int error = add_thread();
      if (error != 0 && threads_.empty()) return end_waiting(operation, -error);  // nobody would ever take it
    }
  }
  work_waits_.notify_one();
}

void BlockingPool::cancel(Operation& operation) noexcept {
  const std::lock_guard lock(mutex_);
  if (operation.driver_word != 0) return;  // it has begun
  end_waiting(operation, -ECANCELED);
}

void BlockingPool::end_waiting(Operation& operation, std::int64_t result) noexcept {
  operation.driver_word = 1;
  waiting_.remove(operation);
  --waiting_count_;
  operation.result = result;
  ended_.push(operation);
  told_.nudge();
}

// Returns: 0, or the errno.
int BlockingPool::add_thread() noexcept {
  try {
    const SignalsBlocked blocked;
    threads_.emplace_back(&BlockingPool::work, this);
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
      const std::lock_guard lock(mutex_);
      operation = ended_.pop();
    }
    if (operation == nullptr) return;
    operation->more = false;
    operation->completed();
  }
}

void BlockingPool::wait_for_end() noexcept {
  std::unique_lock lock(mutex_);
  end_awaited_ = true;
  end_waits_.wait(lock, [this] { return ended_.first != nullptr; });
  end_awaited_ = false;
}

void BlockingPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_waits_.wait(lock, [this] { return closed_ || waiting_.first != nullptr; });
    --idle_;
    Operation* const operation = waiting_.pop();
    if (operation == nullptr) return;
    --waiting_count_;
    operation->driver_word = 1;
    lock.unlock();
    const std::int64_t result = operation->call_blocking();
    lock.lock();
    operation->result = result;
    ended_.push(*operation);
    if (end_awaited_) end_waits_.notify_one();
    told_.nudge();
  }
}

}  // namespace bide
