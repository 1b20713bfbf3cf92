#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <bide/executor/driver.hpp>
#include <bide/executor/io/blocking_call.hpp>
#include <bide/executor/io/buffer_ring.hpp>
#include <bide/executor/io/fork_mark.hpp>
#include <bide/executor/io/operation_list.hpp>
#include <bide/executor/io/shared_buffers.hpp>
#include <bide/executor/io/sigpipe_blocked.hpp>
#include <bide/executor/operation.hpp>

struct io_uring_cqe;
struct io_uring_sqe;

namespace bide {

class Executor;
class UringRing;

/// The outside through io_uring: one system call a turn submits, waits, and carries the next deadline.
///
/// A request's user data is the address of its operation, so there is no table. What the kernel can't take, or refuses,
/// is done all the same:
/// * no room to submit: operations wait in the order of their starts; some places are kept for cancels, and a cancel
///   that finds none waits, too.
/// * no provided buffer: the receive is not told. It waits its turn for one that is given back.
/// * a repeating operation that the kernel ended: with a result, it is told as the last (`more` is false); without one
///   that means anything (-EINTR, -EAGAIN, -ENOBUFS, a cancel that nobody asked for), the driver starts it again.
/// * a Unix socket whose reader is busy, of which no poll tells: it is tried again every 5 ms.
/// * a kind of operation that this kernel, or a filter, refuses: sockets and pipes are polled, then called without waiting; what
///   is about files goes to the BlockingPool.
///
/// Invariants: each operation in flight is in exactly one list, told by its `driver_word`, or with the pool.
/// Threads:    the one OS thread that made it. The destructor may run on another, if nothing is in flight.
/// Fork:       in the child each operation ends with ForkMark::error, but a close is done; the parent's ring is left alone.
/// Signals:    SIGPIPE is blocked on the OS thread while the driver lives: see SigpipeBlocked.
class UringDriver final : public Driver, private BlockingCalls::Ended {
 public:
  /// Throws: std::system_error, whose text names the cause: see UringRing.
  UringDriver(Executor& executor, const DriverOptions& options);
  ~UringDriver() override;

  void start(Operation& operation) noexcept override;
  void cancel(Operation& operation) noexcept override;
  void collect() noexcept override;
  void collect_before_wait() noexcept override;
  void wait(Duration longest) noexcept override;
  void closing(int descriptor) noexcept override;
  std::span<std::byte> buffer(std::uint16_t number) noexcept override;
  void give_back(std::uint16_t buffer) noexcept override;
  bool register_memory(std::span<std::byte> memory) noexcept override;
  void unregister_memory(std::span<std::byte> memory) noexcept override;
  bool buffers_scarce() const noexcept override {
    return buffer_ring_.made() ? buffer_ring_.scarce() : own_buffers_.scarce();
  }
  std::string_view name() const override { return "io_uring"; }
  DriverStatistics statistics() const override { return statistics_; }

  /// Operations that have not told their last result.
  std::size_t in_flight() const { return in_flight_; }

 private:
  static constexpr std::size_t most_fixed = 16;

  /// `Operation::driver_word`: where it is, and the marks of how it goes there.
  enum Place : std::uint32_t {
    nowhere,
    in_kernel,
    cancel_waits,
    waiting,
    starved,
    ended,
    in_pool,
    place_bits = 7
  };
  enum Mark : std::uint32_t {
    polls = 1U << 3U,           // what the kernel has is a poll for it
    own_call = 1U << 4U,        // once polled, the call is ours
    zero_copy = 1U << 5U,       // a send that is told twice
    copied = 1U << 6U,          // a send that must not be of that kind
    repeats_now = 1U << 7U,     // armed to repeat
    waits_for_data = 1U << 8U,  // armed to take a buffer only once there is data
    has_told = 1U << 9U,        // since it was last armed
    fed = 1U << 10U,            // started again for a buffer that was given back
    cancel_sent = 1U << 11U,
    started_over = 1U << 12U,  // after a cancel that nobody asked for
    pauses = 1U << 13U,        // with `polls`: it is a pause in place of a poll, which would be true at once
  };
  /// What the kernel may refuse on its own: the kinds of operations, then these.
  enum Ability : std::uint32_t { multishot_accept = 24, multishot_receive, send_zero_copy };

  static Place place(const Operation& operation) {
    return static_cast<Place>(operation.driver_word & place_bits);
  }
  static bool is(const Operation& operation, Mark mark) { return (operation.driver_word & mark) != 0; }
  /// Waits until its descriptor is ready, if that is not a file.
  static bool can_poll(const Operation& operation) {
    return operation.kind <= Operation::Kind::write_vector && operation.offset == Operation::current_offset;
  }
  static std::uint32_t bit(std::uint32_t ability) { return 1U << ability; }
  static std::uint32_t bit(Operation::Kind kind) { return 1U << static_cast<std::uint32_t>(kind); }

  void check_thread() const;
  OperationList& list(Place of);
  void put(Operation& operation, Place where);
  void take_out(Operation& operation);
  void end_later(Operation& operation, std::int64_t result);
  void tell(Operation& operation, std::int64_t result);
  void tell_ended() noexcept;
  void end_all_in_child() noexcept;

  // executor/io/uring_submit.cpp
  void probe(const DriverOptions& options);
  void launch(Operation& operation);
  void block(Operation& operation);
  void submit(Operation& operation, io_uring_sqe& request);
  bool prepare_fixed(const Operation& operation, io_uring_sqe& request);
  void watch_wake_descriptor(io_uring_sqe& request);
  void refill();
  bool call(unsigned least, Duration longest);

  // executor/io/uring_prepare.cpp
  void prepare(Operation& operation, io_uring_sqe& request);
  void prepare_receive(Operation& operation, io_uring_sqe& request);
  void prepare_send(Operation& operation, io_uring_sqe& request);
  void use_registered(const Operation& operation, io_uring_sqe& request);

  // executor/io/uring_answer.cpp
  void reap();
  void answer(const io_uring_cqe& answer);
  void woken(const io_uring_cqe& answer);
  void succeeded(Operation& operation, std::int64_t result);
  void failed(Operation& operation, std::int64_t error);
  bool refused(Operation& operation, std::int64_t error);
  void polled(Operation& operation, std::int64_t result);
  void call_once_polled(Operation& operation);
  void poll_first(Operation& operation);
  void pause_first(Operation& operation);
  void call_ended(Operation& operation) noexcept override;

  // executor/io/uring_buffers.cpp
  int make_buffers() noexcept;
  int make_own_buffers() noexcept;
  void starve(Operation& operation);
  void feed_one();
  void receive_into_own(Operation& operation);

  ForkMark mark_;
  SigpipeBlocked sigpipe_blocked_;
  std::unique_ptr<UringRing> ring_;
  BlockingCalls blocking_;
  int wake_descriptor_;
  std::uintptr_t os_thread_;
  unsigned kept_for_cancels_;
  std::uint32_t zero_copy_from_bytes_;
  std::uint32_t refused_ = 0;  // a bit for each ability
  std::uint32_t proven_ = 0;
  bool wake_watched_ = false;
  bool ending_ = false;  // the destructor is at work
  bool rings_of_buffers_;
  std::size_t in_flight_ = 0;
  OperationList in_kernel_;
  OperationList cancel_waits_;
  OperationList waiting_;
  OperationList starved_;
  OperationList ended_;
  BufferRing buffer_ring_;
  SharedBuffers own_buffers_;
  std::vector<bool> registered_;                        // by descriptor
  std::array<std::span<std::byte>, most_fixed> fixed_;  // registered memory; empty: a free slot
  std::size_t fixed_count_ = 0;
  bool fixed_slots_made_ = false;
  DriverStatistics statistics_;
};

}  // namespace bide
