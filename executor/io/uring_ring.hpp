#pragma once

#include <cstdint>

#include <liburing.h>

#include <bide/executor/driver.hpp>

namespace bide {

/// One io_uring of the kernel: its set-up, with a step down for each thing that a kernel may lack, and its one call.
///
/// Set-up, from the best: completions are worked off in our own calls only (SINGLE_ISSUER, DEFER_TASKRUN); no interrupts
/// for them (COOP_TASKRUN); plain. The first two say in user memory when there is work (TASKRUN_FLAG). What the kernel
/// has is asked of it, never told by its version.
/// Owns: the descriptor, close-on-exec, and the mapped memory.
class UringRing {
 public:
  /// Throws: std::system_error; the text names the cause: a filter of system calls, the sysctl io_uring_disabled,
  ///         RLIMIT_MEMLOCK and RLIMIT_AS with their values, a kernel without io_uring, what an old kernel lacks, or
  ///         which call is refused.
  /// Where locked memory is short it makes a smaller ring, and tries for some 250 ms: the kernel frees those of rings
  /// that are gone late.
  explicit UringRing(const DriverOptions& options);
  ~UringRing();
  UringRing(const UringRing&) = delete;
  UringRing& operator=(const UringRing&) = delete;

  /// Room for one request, zeroed by whoever prepares it. nullptr where not more than `kept` are free.
  io_uring_sqe* next_request(unsigned kept) {
    if (entries_ - pending() <= kept) return nullptr;
    io_uring_sqe* const request = &ring_.sq.sqes[ring_.sq.sqe_tail & ring_.sq.ring_mask];
    ++ring_.sq.sqe_tail;
    return request;
  }

  /// Requests that the kernel has not taken yet.
  unsigned pending() const { return ring_.sq.sqe_tail - io_uring_smp_load_acquire(ring_.sq.khead); }
  unsigned entries() const { return entries_; }

  /// The kernel has work that only a call brings to an end.
  bool wants_call() const { return (flags() & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0; }
  bool has_overflow() const { return (flags() & IORING_SQ_CQ_OVERFLOW) != 0; }

  bool has_answer() const { return *ring_.cq.khead != io_uring_smp_load_acquire(ring_.cq.ktail); }
  /// Takes the first answer, so that its place is free. Requires: there is one.
  io_uring_cqe take_answer() {
    const unsigned head = *ring_.cq.khead;
    const io_uring_cqe& answer = ring_.cq.cqes[head & ring_.cq.ring_mask];
    const io_uring_cqe taken{.user_data = answer.user_data, .res = answer.res, .flags = answer.flags};
    io_uring_smp_store_release(ring_.cq.khead, head + 1);
    return taken;
  }

  /// io_uring_enter: submits what is pending, lets the kernel work, and waits until `least` answers are there or
  /// `longest` has passed; Duration::max() is for ever. Returns: how many were submitted, or a negative errno.
  int call(unsigned least, Duration longest);

  bool supports(int opcode) const { return opcode < 64 && ((opcodes_ >> opcode) & 1U) != 0; }
  bool has(unsigned feature) const { return (ring_.features & feature) != 0; }

  /// For calls of liburing that register something.
  io_uring* get() { return &ring_; }

  /// From now on the destructor only unmaps and closes: another process, or OS thread, uses the ring.
  void abandon();

 private:
  UringRing() = default;

  unsigned flags() const { return __atomic_load_n(ring_.sq.kflags, __ATOMIC_RELAXED); }
  void set_up(const DriverOptions& options);
  int set_up_once(unsigned submission, unsigned completion, const DriverOptions& options);
  void require_features();
  void ask_operations();
  void try_call();

  io_uring ring_{};
  bool made_ = false;
  unsigned call_flags_ = IORING_ENTER_GETEVENTS;
  unsigned entries_ = 0;
  std::uint64_t opcodes_ = 0;  // a bit each
};

}  // namespace bide
