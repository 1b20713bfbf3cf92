#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <bide/executor/wait.hpp>

namespace bide {

class BlockingPool;
class Driver;
class Executor;

/// One request to the outside: which call, on what, and its result. Lives in the awaiting frame or in the object
/// that repeats it, never moves while in flight, and all memory that it points to stays until it has ended.
///
/// A driver or the BlockingPool fills `result`, `more` and `buffer`, then calls `completed`, on the executor's OS
/// thread: once, or, for one that repeats, once for each result until `more` is false.
///
/// Errors: a negative errno in `result`. -ECANCELED: it was cancelled, and nothing has happened.
struct Operation {
  enum class Kind : std::uint8_t {
    accept,           // descriptor, flags: SOCK_*; result: a descriptor
    connect,          // descriptor, memory: sockaddr, length
    receive,          // descriptor, memory, length, flags: MSG_*; 0 at the end of a stream
    send,             // likewise; never raises SIGPIPE
    receive_message,  // descriptor, memory: msghdr, flags: MSG_*
    send_message,     // likewise; never raises SIGPIPE
    read,             // descriptor, memory, length, offset
    write,            // likewise; never raises SIGPIPE
    read_vector,      // descriptor, memory: iovec[length], offset; at most 1,024 parts
    write_vector,     // likewise; never raises SIGPIPE
    poll,             // descriptor, flags: POLL*; result: those that hold
    open,             // memory: path, flags: O_*, permissions; result: a descriptor, close-on-exec
    close,            // descriptor: gone afterwards, whatever the result
    sync,             // descriptor: fsync
    sync_data,        // descriptor: fdatasync
    allocate,         // descriptor, offset, size, flags: FALLOC_FL_*
    rename,           // memory: from, more_memory: to; both paths
    unlink,           // memory: path, flags: AT_REMOVEDIR or 0
    call,             // runs `call_blocking` on the BlockingPool
  };
  /// For `offset`: where the descriptor stands, as for a pipe.
  static constexpr std::uint64_t current_offset = UINT64_MAX;

  explicit Operation(Kind what) : kind(what) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// It has a result. With `more` set others follow; otherwise nobody refers to it any longer.
  virtual void completed() noexcept = 0;

  /// For Kind::call, on another OS thread. Returns: the result.
  virtual std::int64_t call_blocking() noexcept { return 0; }

  // What to do.
  Kind kind;
  /// accept, receive: goes on after the first result. A driver may end it after any (`more` is false then).
  bool repeats = false;
  /// receive: into a buffer of the driver's, which `Driver::give_back` gets again. `memory` is unused.
  bool takes_buffer = false;
  int descriptor = -1;
  std::uint32_t flags = 0;
  std::uint32_t length = 0;
  std::uint32_t permissions = 0;
  void* memory = nullptr;
  void* more_memory = nullptr;
  std::uint64_t offset = current_offset;
  std::uint64_t size = 0;

  // How it went.
  std::int64_t result = 0;
  bool more = false;              // further results follow
  bool in_flight = false;         // set by who starts it, cleared with the last result
  bool cancel_asked = false;      // `cancel` was called on it
  std::uint16_t buffer = 0;       // with takes_buffer and result > 0: which
  std::uint16_t steps = 0;        // the driver's: how many answers of the kernel are to come
  std::uint32_t driver_word = 0;  // the driver's

  // The list of whoever holds it at the time: a driver, or the pool.
  Operation* next = nullptr;
  Operation* previous = nullptr;

 protected:
  ~Operation() = default;
};

/// Says that somebody waits for the outside, though not for an operation of its own: for the next result of one that
/// repeats, or for the end of one that was given up. The executor stays in its run until then, and virtual time stands
/// still.
class OutsideWork {
 public:
  OutsideWork() = default;
  OutsideWork(const OutsideWork&) = delete;
  OutsideWork& operator=(const OutsideWork&) = delete;

  /// Requires: not begun.
  void begin(Executor& executor) noexcept;
  /// Once begun, ended once: twice is once.
  void end() noexcept;
  bool begun() const { return executor_ != nullptr; }

 private:
  Executor* executor_ = nullptr;
};

/// The await of an Operation: suspends the thread until the last result has come.
///
/// Nothing outlives its owner: a cancel asks the driver, and the thread stays suspended until the kernel has let go.
/// If it succeeded all the same, the result is delivered, and the cancel shows at the thread's next wait. One that a signal
/// interrupted is started again, but for a close, which has happened.
///
/// A derived awaiter: `await_ready` returns true if `enter()` does; `await_suspend` fills in the operation and calls
/// `begin`; `await_resume` calls `end`.
class OperationWait : public Wait, protected Operation {
 public:
  void withdraw() noexcept override;
  bool ask_to_end() noexcept override;
  std::string remedy() const override { return "bring it about from outside"; }

 protected:
  OperationWait(Kind what, std::source_location where) : Wait(where), Operation(what) {}
  ~OperationWait() = default;

  /// Suspends, and starts it. Requires: the driver, or the pool, is the running executor's.
  void begin(Frame& frame, Driver& driver);
  void begin(Frame& frame, BlockingPool& pool);

  /// Returns: the result, or a negative errno. Throws: Cancelled.
  std::int64_t end() const {
    finish();
    return result;
  }

  void completed() noexcept override;

 private:
  void started(Frame& frame);

  Driver* driver_ = nullptr;  // nullptr: the pool has it
};

}  // namespace bide
