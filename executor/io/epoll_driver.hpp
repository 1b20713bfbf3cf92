#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <bide/executor/driver.hpp>
#include <bide/executor/io/blocking_call.hpp>
#include <bide/executor/io/epoll_set.hpp>
#include <bide/executor/io/fork_mark.hpp>
#include <bide/executor/io/operation_list.hpp>
#include <bide/executor/io/shared_buffers.hpp>
#include <bide/executor/io/sigpipe_blocked.hpp>

namespace bide {

class Executor;

/// Real I/O for kernels and containers without io_uring.
///
/// An operation is attempted at once, and waits for the kernel's word only where that would block (attempt.hpp). Files,
/// and what cannot be attempted without blocking, go to the executor's BlockingPool.
///
/// Order:  operations on one descriptor and in one direction complete in the order started; polls as they come true, and
///         those at an offset of a file in any.
/// Repeats: an operation that repeats completes once, with `more` cleared: its owner starts it again when it wants more,
///         and none is done that nobody waits for.
/// Buffers: the driver's own. A receive that finds none waits until one is given back, first come, first served.
/// Descriptors: a listener is made non-blocking with its first accept, and a socket for the moment of its connect. The
///         flags of no other are touched. Descriptors that are polled alone may be closed without a word; for all others
///         `closing` has to be told.
/// Forks:  in a child of this process each operation ends at once with -ForkMark::error, but a close is done; the parent
///         is undisturbed.
/// Cost:   no allocation an operation once the descriptor's number has been seen; one system call for what is there,
///         three where it waits.
class EpollDriver final : public Driver, private BlockingCalls::Ended {
 public:
  /// Throws: std::system_error.
  EpollDriver(Executor& executor, const DriverOptions& options);
  ~EpollDriver() override;

  void start(Operation& operation) noexcept override;
  void cancel(Operation& operation) noexcept override;
  void collect() noexcept override;
  void collect_before_wait() noexcept override;
  void wait(Duration longest) noexcept override;
  void closing(int descriptor) noexcept override;
  std::span<std::byte> buffer(std::uint16_t number) noexcept override { return buffers_.memory(number); }
  void give_back(std::uint16_t buffer) noexcept override;
  bool buffers_scarce() const noexcept override { return buffers_.scarce(); }
  std::string_view name() const override { return "epoll"; }
  DriverStatistics statistics() const override { return counts_; }

 private:
  using Direction = WatchedDescriptor::Direction;
  /// Who has an operation: in Operation::driver_word.
  enum class Place : std::uint32_t { nobody, queue, pool, ended };

  void start_close(Operation& operation) noexcept;
  void start_on_pool(Operation& operation) noexcept;
  void call_ended(Operation& operation) noexcept override;

  void tell(Operation& operation, std::int64_t result) noexcept;
  void tell_later(Operation& operation, std::int64_t result) noexcept;
  void tell_ended() noexcept;
  void end_all(std::int64_t result) noexcept;

  static void sleep(Duration longest) noexcept;
  void forget(WatchedDescriptor& watched) noexcept;

  void enqueue(Operation& operation, OperationList& queue) noexcept;
  void dequeue(Operation& operation, OperationList& queue) noexcept;

  // executor/io/epoll_events.cpp
  void see(int found) noexcept;
  void take_events() noexcept;
  void try_again() noexcept;
  void advance(WatchedDescriptor& watched, Direction direction) noexcept;
  void advance_each(WatchedList& list, Direction direction) noexcept;
  void advance_polls(WatchedDescriptor& watched, std::uint32_t events) noexcept;
  int watch_polls(WatchedDescriptor& watched) noexcept;
  std::int64_t attempt_here(Operation& operation, WatchedDescriptor& watched) noexcept;
  std::int64_t receive_in_buffer(Operation& operation) noexcept;
  void start_poll(Operation& operation, WatchedDescriptor& watched) noexcept;
  void move_to_told(Operation& operation, std::int64_t result, OperationList& from,
                    OperationList& to) noexcept;

  const SigpipeBlocked sigpipe_blocked_{};
  const ForkMark mark_{};
  EpollSet set_;
  BlockingCalls calls_;
  SharedBuffers buffers_;
  OperationList ended_;         // to tell at the next collect
  WatchedList without_buffer_;  // whose first receive waits for one
  WatchedList to_try_later_;    // whose first write no event will tell of
  std::size_t queued_ = 0;      // operations that wait for descriptors
  int event_count_ = 0;         // that the set has, and `collect` has not seen
  bool recheck_ = false;        // one that waited for a buffer was cancelled
  bool telling_ = false;        // within `completed`: what it starts is told later
  bool refusing_ = false;       // in the destructor
  DriverStatistics counts_{};
};

}  // namespace bide
