#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/types.h>

#include <bide/executor/operation.hpp>
#include <bide/executor/post.hpp>

namespace bide {

/// OS threads for calls that block: what `offload` gets, and file operations where the driver has none of its own.
///
/// Order:   calls begin in the order of `start`; they end in any. Results are told in the order of their ends.
/// Threads: made when work waits and all are busy, up to the limit; signals are blocked in them.
/// Forks:   a child of this process has none of the threads: what it starts ends with -EPERM, and a cancel ends what the
///          parent's threads had begun.
/// Cost:    no allocation an operation.
class BlockingPool {
 public:
  BlockingPool(std::size_t thread_limit, PostBox& told);
  /// Requires: nothing is in flight. Joins the threads.
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Runs `operation.call_blocking()` on one of the threads. Where no thread can be made, with the error as its result.
  void start(Operation& operation) noexcept;

  /// Takes it out if it has not begun: it completes with -ECANCELED at the next `collect`. One that has begun goes on
  /// to its end.
  void cancel(Operation& operation) noexcept;

  /// Tells what has ended: by `completed`, on the executor's OS thread.
  void collect() noexcept;

  /// Blocks the calling OS thread until something has ended that is not told yet. Requires: something is in flight.
  void wait_for_end() noexcept;

 private:
  struct List {  // first in, first out, through Operation::next and previous
    Operation* first = nullptr;
    Operation* last = nullptr;
    void push(Operation& operation);
    Operation* pop();
    void remove(Operation& operation);
  };

  /// What a forked child can neither use nor destroy.
  struct Threads {
    std::mutex mutex;
    std::condition_variable work_waits;
    std::condition_variable end_waits;
    std::vector<std::thread> made;
  };

  bool in_child() const;
  std::unique_lock<std::mutex> lock();
  void work();
  int add_thread() noexcept;
  void end_waiting(Operation& operation, std::int64_t result) noexcept;
  void end(Operation& operation, std::int64_t result) noexcept;

  PostBox& told_;
  std::size_t thread_limit_;
  pid_t process_;
  std::unique_ptr<Threads> threads_;
  List waiting_;  // guarded by the mutex, as is all below
  List ended_;
  std::size_t waiting_count_ = 0;
  std::size_t idle_ = 0;  // threads that wait for work
  bool closed_ = false;
  bool end_awaited_ = false;
};

}  // namespace bide
