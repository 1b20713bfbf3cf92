#include <bide/executor/io/uring_driver.hpp>

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <bide/executor/io/uring_ring.hpp>
#include <bide/queue/require.hpp>

// From operations to requests in the submission queue.

namespace bide {

namespace {

using Kind = Operation::Kind;

// In place of an operation's address.
constexpr std::uint64_t cancel_data = 1;

// The kernel only reads it, though liburing does not say so.
__kernel_timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};

int opcode_of(Kind kind) {
  switch (kind) {
    case Kind::accept:
      return IORING_OP_ACCEPT;
    case Kind::connect:
      return IORING_OP_CONNECT;
    case Kind::receive:
      return IORING_OP_RECV;
    case Kind::send:
      return IORING_OP_SEND;
    case Kind::receive_message:
      return IORING_OP_RECVMSG;
    case Kind::send_message:
      return IORING_OP_SENDMSG;
    case Kind::read:
      return IORING_OP_READ;
    case Kind::write:
      return IORING_OP_WRITE;
    case Kind::read_vector:
      return IORING_OP_READV;
    case Kind::write_vector:
      return IORING_OP_WRITEV;
    case Kind::poll:
      return IORING_OP_POLL_ADD;
    case Kind::open:
      return IORING_OP_OPENAT;
    case Kind::close:
      return IORING_OP_CLOSE;
    case Kind::sync:
    case Kind::sync_data:
      return IORING_OP_FSYNC;
    case Kind::allocate:
      return IORING_OP_FALLOCATE;
    case Kind::rename:
      return IORING_OP_RENAMEAT;
    case Kind::unlink:
      return IORING_OP_UNLINKAT;
    case Kind::call:
      break;
  }
  return IORING_OP_LAST;
}

unsigned events_of(Kind kind) {
  switch (kind) {
    case Kind::connect:
    case Kind::send:
    case Kind::send_message:
    case Kind::write:
    case Kind::write_vector:
      return POLLOUT;
    default:
      return POLLIN;
  }
}

}  // namespace

void UringDriver::probe(const DriverOptions& options) {
  for (std::uint32_t number = 0; number <= static_cast<std::uint32_t>(Kind::call); ++number) {
    const auto kind = static_cast<Kind>(number);
    if (!ring_->supports(opcode_of(kind)) || ((options.refused_kinds >> number) & 1U) != 0)
      refused_ |= bit(kind);
  }
  refused_ &= ~bit(Kind::poll);  // a ring without is refused itself, for it is the way round for others
  if (options.multishot == DriverOptions::Use::never)
    refused_ |= bit(multishot_accept) | bit(multishot_receive);
  if (!ring_->supports(IORING_OP_SEND_ZC) || zero_copy_from_bytes_ == 0) refused_ |= bit(send_zero_copy);
  const std::uint32_t slots = options.registered_descriptors;
  if (slots > 0 && io_uring_register_files_sparse(ring_->get(), slots) == 0) registered_.resize(slots);
}

// Puts it where the kernel, or whoever does its work, will see it next.
void UringDriver::launch(Operation& operation) {
  if ((refused_ & bit(operation.kind)) != 0 && !is(operation, polls)) [[unlikely]] {
    if (!is(operation, own_call)) ++statistics_.fallbacks;
    if (!can_poll(operation)) return block(operation);
    operation.driver_word |= polls | own_call;
  }
  if (operation.takes_buffer && !buffer_ring_.made()) operation.driver_word |= polls | own_call;
  if (waiting_.empty()) [[likely]] {
    if (io_uring_sqe* const request = ring_->next_request(kept_for_cancels_); request != nullptr)
      return submit(operation, *request);
  }
  ++statistics_.queue_full;
  put(operation, waiting);
}

void UringDriver::block(Operation& operation) {
  operation.driver_word = (operation.driver_word & ~std::uint32_t{place_bits}) | in_pool;
  blocking_.start(operation);
}

void UringDriver::submit(Operation& operation, io_uring_sqe& request) {
  if (is(operation, pauses)) [[unlikely]] {
    io_uring_prep_timeout(&request, &pause, 0, 0);
  } else if (is(operation, polls)) [[unlikely]] {
    io_uring_prep_poll_add(&request, operation.descriptor, events_of(operation.kind));
  } else {
    prepare(operation, request);
  }
  request.user_data = reinterpret_cast<std::uintptr_t>(&operation);
  put(operation, in_kernel);
}

// Edge-triggered: each post makes one answer, and the descriptor is never read. One that does not repeat is, for it
// would be ready for ever.
void UringDriver::watch_wake_descriptor(io_uring_sqe& request) {
  if ((refused_ & bit(multishot_accept)) != 0) {
    std::uint64_t count = 0;
    static_cast<void>(::read(wake_descriptor_, &count, sizeof count));
    io_uring_prep_poll_add(&request, wake_descriptor_, POLLIN);
  } else {
    io_uring_prep_poll_multishot(&request, wake_descriptor_, POLLIN);
  }
  request.user_data = 2;
  wake_watched_ = true;
}

// Cancels first, which may use all places.
void UringDriver::refill() {
  if (!wake_watched_ && !ending_) [[unlikely]] {
    if (io_uring_sqe* const request = ring_->next_request(0); request != nullptr)
      watch_wake_descriptor(*request);
  }
  while (!cancel_waits_.empty()) {
    io_uring_sqe* const request = ring_->next_request(0);
    if (request == nullptr) return;
    Operation& operation = *cancel_waits_.first();
    take_out(operation);
    io_uring_prep_cancel64(request, reinterpret_cast<std::uintptr_t>(&operation), 0);
    request->user_data = cancel_data;
    operation.driver_word |= cancel_sent;
    put(operation, in_kernel);
  }
  while (!waiting_.empty()) {
    io_uring_sqe* const request = ring_->next_request(kept_for_cancels_);
    if (request == nullptr) return;
    Operation& operation = *waiting_.first();
    take_out(operation);
    submit(operation, *request);
  }
}

// False: the kernel is busy, and answers have to be taken first.
bool UringDriver::call(unsigned least, Duration longest) {
  ++statistics_.enters;
  if (least > 0) ++statistics_.waits;
  if (ring_->has_overflow()) ++statistics_.overflows;
  const int result = ring_->call(least, longest);
  switch (result) {
    case -EBUSY:
    case -EAGAIN: {
      ++statistics_.busy;
      constexpr timespec a_moment{0, 1'000'000};  // there is no memory for a request, and nothing else to do
      if (least > 0) ::nanosleep(&a_moment, nullptr);
      return false;
    }
    case -EINTR:
      ++statistics_.interrupted;
      return true;
    case -ETIME:
      return true;
    case -EINVAL:
      if (least > 0) ++statistics_.refused_timeouts;
      return false;
    default:
      require(result >= 0, "io_uring_enter fails: its descriptor was closed, or completions were lost");
      return true;
  }
}

}  // namespace bide
