#include <bide/executor/io/uring_driver.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/socket.h>

#include <bide/executor/io/attempt.hpp>
#include <bide/executor/io/uring_ring.hpp>

// From answers in the completion queue to results.

namespace bide {

namespace {

using Kind = Operation::Kind;

/// Makes a listener's accept return instead of wait, for a while: the connection that was polled may be gone.
class NonBlocking {
 public:
  explicit NonBlocking(int descriptor) : descriptor_(descriptor), before_(::fcntl(descriptor, F_GETFL)) {
    if (before_ >= 0 && (before_ & O_NONBLOCK) == 0) ::fcntl(descriptor_, F_SETFL, before_ | O_NONBLOCK);
  }
  ~NonBlocking() {
    if (before_ >= 0 && (before_ & O_NONBLOCK) == 0) ::fcntl(descriptor_, F_SETFL, before_);
  }
  NonBlocking(const NonBlocking&) = delete;
  NonBlocking& operator=(const NonBlocking&) = delete;

 private:
  int descriptor_;
  int before_;
};

// Such a socket is writable also while its receiver's queue is full.
bool to_unix_address(const Operation& operation) {
  if (operation.kind != Kind::send_message) return false;
  const auto& message = *static_cast<const msghdr*>(operation.memory);
  const auto* const to = static_cast<const sockaddr*>(message.msg_name);
  return to != nullptr && message.msg_namelen > 0 && to->sa_family == AF_UNIX;
}

// An open that one of the kernel's own threads was called away from says ERESTARTSYS, which no other call shows.
bool was_interrupted(std::int64_t error) {
  constexpr std::int64_t first_restart = -512;
  constexpr std::int64_t last_restart = -516;
  return error == -EINTR || (error <= first_restart && error >= last_restart);
}

bool may_mean_refused(std::int64_t error) {
  return error == -EINVAL || error == -EOPNOTSUPP || error == -ENOSYS || error == -EPERM || error == -EACCES;
}

}  // namespace

// `completed` may start operations, but none that the kernel sees before the next call: this ends.
void UringDriver::reap() {
  while (ring_->has_answer()) answer(ring_->take_answer());
}

void UringDriver::answer(const io_uring_cqe& answer) {
  if (answer.user_data < 8) [[unlikely]] {
    if (answer.user_data == 2) woken(answer);
    return;  // the answer to a cancel says nothing that the operation's own does not
  }
  auto& operation = *reinterpret_cast<Operation*>(static_cast<std::uintptr_t>(answer.user_data));
  operation.more = (answer.flags & IORING_CQE_F_MORE) != 0;
  std::int64_t result = answer.res;
  if (is(operation, zero_copy)) [[unlikely]] {
    if (operation.more) {  // also with an error: the kernel says when it has let go of the memory
      operation.result = result;
      return;
    }
    if ((answer.flags & IORING_CQE_F_NOTIF) != 0) result = operation.result;
    if (result >= 0) ++statistics_.zero_copies;
  }
  if (!operation.more) take_out(operation);
  if ((answer.flags & IORING_CQE_F_BUFFER) != 0) {
    operation.buffer = static_cast<std::uint16_t>(answer.flags >> IORING_CQE_BUFFER_SHIFT);
    buffer_ring_.taken();
    if (answer.res <= 0) buffer_ring_.give_back(operation.buffer);
  }
  if (is(operation, polls)) [[unlikely]]
    return polled(operation, result);
  if (result >= 0) [[likely]]
    return succeeded(operation, result);
  failed(operation, result);
}

void UringDriver::woken(const io_uring_cqe& answer) {
  if (answer.res > 0) ++statistics_.wakes;
  if (answer.res == -EINVAL)
    refused_ |= bit(multishot_accept);  // polls that repeat are older than such accepts
  if ((answer.flags & IORING_CQE_F_MORE) == 0) wake_watched_ = false;
}

void UringDriver::succeeded(Operation& operation, std::int64_t result) {
  operation.driver_word |= has_told;
  proven_ |= bit(operation.kind);
  if (is(operation, repeats_now)) {
    proven_ |= bit(operation.kind == Kind::accept ? multishot_accept : multishot_receive);
    if (!operation.more && !operation.cancel_asked && (operation.kind == Kind::accept || result > 0))
      ++statistics_.repeats_ended;
  }
  tell(operation, result);
}

void UringDriver::failed(Operation& operation, std::int64_t error) {
  operation.driver_word &= ~std::uint32_t{zero_copy};
  if (is(operation, fed)) [[unlikely]] {
    operation.driver_word &= ~std::uint32_t{fed};
    if (error != -ENOBUFS) feed_one();
  }
  if (was_interrupted(error)) error = -EINTR;
  if (operation.cancel_asked && (error == -EINTR || error == -EAGAIN || error == -ENOBUFS))
    error = -ECANCELED;
  switch (error) {
    case -ENOBUFS:
      if (operation.takes_buffer) return starve(operation);
      break;
    case -EAGAIN:
      if (!can_poll(operation) || operation.kind == Kind::connect || (operation.flags & MSG_DONTWAIT) != 0)
        break;
      return to_unix_address(operation) ? pause_first(operation) : poll_first(operation);
    case -EINTR:
      if (operation.kind == Kind::close) return tell(operation, 0);  // it is closed
      if (operation.kind == Kind::connect) {                         // it goes on: `attempt` asks how it went
        operation.steps = 1;
        operation.driver_word |= own_call;
        return poll_first(operation);
      }
      return launch(operation);
    case -ECANCELED:
      if (operation.cancel_asked || ending_ || is(operation, started_over)) break;
      operation.driver_word |= started_over;
      if (is(operation, repeats_now)) ++statistics_.repeats_ended;
      return launch(operation);
    default:
      if (may_mean_refused(error) && refused(operation, error)) return;
  }
  tell(operation, error);
}

// It may be the kind of request that the kernel refuses, as long as none such has ever succeeded. The other way either
// succeeds, or fails with what is really wrong.
bool UringDriver::refused(Operation& operation, std::int64_t error) {
  if (is(operation, repeats_now)) {
    const std::uint32_t ability = operation.kind == Kind::accept ? multishot_accept : multishot_receive;
    if ((proven_ & bit(ability)) != 0) return false;
    if (error == -EINVAL && (proven_ & bit(operation.kind)) == 0 && (refused_ & bit(ability)) == 0) {
      refused_ |= bit(ability);
      operation.driver_word &= ~std::uint32_t{repeats_now};
      ++statistics_.fallbacks;
      launch(operation);
      return true;
    }
  }
  if (operation.kind == Kind::send && operation.length >= zero_copy_from_bytes_ &&
      zero_copy_from_bytes_ > 0 && !is(operation, copied)) {
    operation.driver_word |= copied;
    ++statistics_.fallbacks;
    launch(operation);
    return true;
  }
  if ((proven_ & bit(operation.kind)) != 0 || operation.kind == Kind::poll || operation.kind == Kind::close)
    return false;
  ++statistics_.fallbacks;
  if (operation.takes_buffer && make_own_buffers() != 0) return false;
  if (can_poll(operation)) {
    operation.driver_word |= own_call;
    poll_first(operation);
  } else {
    block(operation);
  }
  return true;
}

void UringDriver::poll_first(Operation& operation) {
  operation.driver_word |= polls;
  launch(operation);
}

void UringDriver::pause_first(Operation& operation) {
  operation.driver_word |= pauses;
  poll_first(operation);
}

void UringDriver::polled(Operation& operation, std::int64_t result) {
  operation.driver_word &= ~std::uint32_t{polls | pauses};
  if (operation.cancel_asked || ending_) return tell(operation, -ECANCELED);
  if (result < 0 && result != -ETIME && result != -ECANCELED && result != -EINTR)
    return tell(operation, result);
  if (!is(operation, own_call)) return launch(operation);
  call_once_polled(operation);
}

void UringDriver::call_once_polled(Operation& operation) {
  if (operation.takes_buffer) return receive_into_own(operation);
  std::int64_t result = Attempt::not_now;
  if (operation.kind == Kind::accept) {
    const NonBlocking while_called(operation.descriptor);
    result = attempt(operation);
  } else {
    result = attempt(operation);
  }
  if (result == Attempt::not_now) return poll_first(operation);
  if (result == Attempt::later) return pause_first(operation);
  if (result == Attempt::blocks) return block(operation);
  if (result >= 0 && !may_mean_refused(result)) refused_ |= bit(operation.kind) & ~proven_;
  tell(operation, result);
}

void UringDriver::call_ended(Operation& operation) noexcept {
  operation.driver_word = 0;
  operation.more = false;
  tell(operation, operation.result);
}

}  // namespace bide
