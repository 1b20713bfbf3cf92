#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <bide/timers/instant.hpp>

namespace bide {

struct Operation;

/// How the executor reaches the outside, and with what means.
struct DriverOptions {
  enum class Choice : std::uint8_t {
    automatic,  // what the environment variable BIDE_DRIVER says (uring, epoll); else io_uring, and epoll where it is refused
    uring,  // io_uring, or an error that says why not
    epoll,
  };
  Choice choice = Choice::automatic;
  /// io_uring: room for requests that are not submitted yet. More wait their turn. A power of two, 2 to 32,768.
  std::uint32_t submission_entries = 256;
  /// io_uring: room for completions that are not seen yet; the kernel keeps more, slower. A power of two.
  std::uint32_t completion_entries = 4096;
  /// Buffers that all receiving streams share (TcpStream::receive): how many, a power of two up to 32,768, and the
  /// size of each. They are made with the first such receive.
  std::uint32_t buffer_count = 256;
  std::uint32_t buffer_bytes = 4096;
  /// io_uring: sends of at least so much are not copied. 0: all are. Such a write ends, also when it is cancelled, only when
  /// the kernel has let go of its bytes: with TCP when the peer has them.
  std::uint32_t zero_copy_from_bytes = 0;
  /// io_uring: descriptors below this number are registered on first use, which spares a reference each request. 0: none.
  std::uint32_t registered_descriptors = 0;
  /// io_uring: leave out what the kernel has, to test the step down: without SINGLE_ISSUER and DEFER_TASKRUN; without
  /// operations that repeat; without rings of provided buffers.
  enum class Use : std::uint8_t { if_there, never };
  Use deferred_task_run = Use::if_there;
  Use multishot = Use::if_there;
  Use buffer_ring = Use::if_there;
  /// io_uring: the kinds of operations (bit 1 << Operation::Kind) that are done as if the kernel refused them;
  /// a poll never is.
  std::uint32_t refused_kinds = 0;
};

/// What a driver has done so far. All counts.
struct DriverStatistics {
  std::uint64_t started = 0;           // operations
  std::uint64_t completed = 0;         // results of operations
  std::uint64_t cancels = 0;           // asked for
  std::uint64_t enters = 0;            // calls that submitted or waited: io_uring_enter, epoll_wait
  std::uint64_t waits = 0;             // of those, how many were ready to block
  std::uint64_t wakes = 0;             // waits that a post from another OS thread ended
  std::uint64_t interrupted = 0;       // EINTR from a wait
  std::uint64_t queue_full = 0;        // operations that waited because there was no room to submit
  std::uint64_t overflows = 0;         // of the completion queue
  std::uint64_t busy = 0;              // EBUSY or EAGAIN from a submit: tried again
  std::uint64_t out_of_buffers = 0;    // receives that waited for a provided buffer
  std::uint64_t repeats_ended = 0;     // repeating operations that the kernel ended
  std::uint64_t fallbacks = 0;         // operations that the kernel refused, done another way
  std::uint64_t zero_copies = 0;       // sends that were not copied by us
  std::uint64_t fixed = 0;             // reads and writes within registered memory
  std::uint64_t refused_timeouts = 0;  // timeouts that the kernel refused: always 0
};

/// The door to the outside: starts operations, and tells their results in the order in which the kernel gave them.
///
/// All calls come from the executor's OS thread. A driver never resumes anything: `Operation::completed` makes threads
/// ready, and the loop runs them.
///
/// Invariants: each started operation completes; its last completion has `more` cleared, and from then on neither the
/// driver nor the kernel refers to it or to its memory.
class Driver {
 public:
  /// Cancels all that is in flight, and waits for the last completion of each.
  virtual ~Driver() { *life_ = nullptr; }

  /// Starts it. Errors are results. May complete within the call.
  virtual void start(Operation&) noexcept = 0;

  /// Asks for its end. It completes all the same: with -ECANCELED, or as if nobody had asked. Requires: in flight.
  virtual void cancel(Operation&) noexcept = 0;

  /// Submits what was started, and tells what has ended. Never blocks; no system call when there is nothing to submit
  /// and nothing has ended.
  virtual void collect() noexcept = 0;

  /// The same, when nothing is ready: unless this makes something ready, `wait` follows, or `collect` at the end of the
  /// run. What these do as well may be left to them, so that one system call submits and waits.
  virtual void collect_before_wait() noexcept { collect(); }

  /// Submits what was started, and blocks until something has ended, the wake descriptor is readable, a signal came, or
  /// so much real time has passed. Tells nothing: `collect` does.
  virtual void wait(Duration longest) noexcept = 0;

  /// The descriptor is about to be closed by a plain call. Requires: no operation on it is in flight.
  virtual void closing(int descriptor) noexcept = 0;

  /// The memory of a buffer that a receive has taken. Stays the taker's until it is given back.
  virtual std::span<std::byte> buffer(std::uint16_t number) noexcept = 0;
  virtual void give_back(std::uint16_t buffer) noexcept = 0;
  /// So few are left that what nobody reads yet has to make room.
  virtual bool buffers_scarce() const noexcept = 0;

  /// Tells the kernel of memory whose pages it may keep at hand, see RegisteredMemory. False: it can't, or won't.
  virtual bool register_memory(std::span<std::byte> /*memory*/) noexcept { return false; }
  virtual void unregister_memory(std::span<std::byte> /*memory*/) noexcept {}

  /// "io_uring" or "epoll".
  virtual std::string_view name() const = 0;
  virtual DriverStatistics statistics() const = 0;

  /// For what may outlive it, as a socket does that was made before the executor: points to this driver, and to nothing
  /// once that is gone.
  using Life = std::shared_ptr<Driver*>;
  const Life& life() const { return life_; }

 protected:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

 private:
  Life life_ = std::make_shared<Driver*>(this);
};

}  // namespace bide
