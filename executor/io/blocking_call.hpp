#pragma once

#include <cstddef>
#include <cstdint>

#include <bide/executor/operation.hpp>

namespace bide {

class Executor;

/// Does what the operation says by the plain system call, on the calling OS thread, however long that takes.
/// Returns: the result, or a negative errno. Never EINTR, but from a close, which is not tried again: the descriptor
///          is gone. Requires: not Kind::call. Raises SIGPIPE where the call does, unless the caller blocks it.
std::int64_t perform_blocking(const Operation& operation) noexcept;

/// A driver's operations that the executor's BlockingPool does, since the kernel has no better way.
///
/// Invariants: each started one is told to `Ended::call_ended`, in the order of their ends; a close was done by then.
/// Cost:       no allocation an operation once as many were under way at a time.
class BlockingCalls {
 public:
  /// What a driver is told: the result is in the operation; `completed` has not been called.
  class Ended {
   public:
    virtual void call_ended(Operation& operation) noexcept = 0;

   protected:
    ~Ended() = default;
  };

  BlockingCalls(Executor& executor, Ended& told) : executor_(executor), told_(told) {}
  /// Requires: none is in flight.
  ~BlockingCalls();
  BlockingCalls(const BlockingCalls&) = delete;
  BlockingCalls& operator=(const BlockingCalls&) = delete;

  /// Where there is no memory for it, or no thread: ends with that error.
  void start(Operation& operation) noexcept;

  /// Ends it with that error, and never begins it. A close is done all the same, here and now: its descriptor would stay
  /// open.
  void refuse(Operation& operation, std::int64_t error) noexcept;

  /// It ends with -ECANCELED if it has not begun; but a close is done, come what may. Requires: in flight here.
  void cancel(Operation& operation) noexcept;

  /// Cancels all, waits for their ends, and tells them.
  void finish() noexcept;

  std::size_t in_flight() const { return in_flight_; }

 private:
  struct Call;

  Call* make();
  void free(Call& call) noexcept;

  Executor& executor_;
  Ended& told_;
  Call* free_ = nullptr;
  Call* live_ = nullptr;
  std::size_t in_flight_ = 0;
};

}  // namespace bide
