#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include <bide/executor/operation.hpp>
#include <bide/executor/post.hpp>

namespace bide {

/// OS threads for calls that block: what `offload` gets, and file operations where the driver has none of its own.
///
/// Order:   calls begin in the order of `start`; they end in any. Results are told in the order of their ends.
/// Threads: made when work waits and all are busy, up to the limit; signals are blocked in them.
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

  void work();
  int add_thread() noexcept;
  void end_waiting(Operation& operation, std::int64_t result) noexcept;

  PostBox& told_;
  std::size_t thread_limit_;
  std::mutex mutex_;
  std::condition_variable work_waits_;  // all below are guarded by mutex_
  std::condition_variable end_waits_;
  List waiting_;
  List ended_;
  std::size_t waiting_count_ = 0;
  std::size_t idle_ = 0;  // threads that wait for work
  bool closed_ = false;
  bool end_awaited_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bide
