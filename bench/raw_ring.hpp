#pragma once

// What operations are held against: io_uring by hand.

#include <liburing.h>
#include <poll.h>

#include <cstdint>
#include <cstdlib>

namespace bide::bench {

/// A ring with the best set-up, one enter a turn, and one-shot requests. `answers`: how many may wait to be taken.
class RawRing {
 public:
  explicit RawRing(unsigned entries, unsigned answers = 4096) {
    io_uring_params wanted{};
    wanted.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    wanted.cq_entries = answers;
    if (io_uring_queue_init_params(entries, &ring_, &wanted) != 0) std::abort();
    io_uring_register_ring_fd(&ring_);
  }
  ~RawRing() { io_uring_queue_exit(&ring_); }
  RawRing(const RawRing&) = delete;
  RawRing& operator=(const RawRing&) = delete;

  io_uring_sqe* request() {
    io_uring_sqe* request = io_uring_get_sqe(&ring_);
    if (request == nullptr) {
      io_uring_submit(&ring_);
      request = io_uring_get_sqe(&ring_);
    }
    return request;
  }
  void poll(int on, void* data) {
    io_uring_sqe* const wanted = request();
    io_uring_prep_poll_add(wanted, on, POLLIN);
    wanted->user_data = reinterpret_cast<std::uintptr_t>(data);
  }

  /// Submits, waits for at least one answer, and calls `answered(data, result)` for each.
  template <class Answered>
  void turn(Answered answered) {
    io_uring_submit_and_wait(&ring_, 1);
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* answer = nullptr;
    io_uring_for_each_cqe(&ring_, head, answer) {
      answered(reinterpret_cast<void*>(static_cast<std::uintptr_t>(answer->user_data)), answer->res);
      ++count;
    }
    io_uring_cq_advance(&ring_, count);
  }

 private:
  io_uring ring_{};
};

}  // namespace bide::bench
