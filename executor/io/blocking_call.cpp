#include <bide/executor/io/blocking_call.hpp>

#include <cerrno>
#include <new>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <bide/executor/blocking_pool.hpp>
#include <bide/executor/executor.hpp>

namespace bide {

namespace {

using Kind = Operation::Kind;

std::int64_t call_once(const Operation& wanted) noexcept {
  const int descriptor = wanted.descriptor;
  const auto flags = static_cast<int>(wanted.flags);
  const auto offset = static_cast<off_t>(wanted.offset);
  const bool positioned = wanted.offset != Operation::current_offset;
  const auto* const parts = static_cast<const iovec*>(wanted.memory);
  const auto part_count = static_cast<int>(wanted.length);
  const auto* const path = static_cast<const char*>(wanted.memory);
  auto* const message = static_cast<msghdr*>(wanted.memory);
  switch (wanted.kind) {
    case Kind::accept:
      return ::accept4(descriptor, nullptr, nullptr, flags);
    case Kind::connect:
      return ::connect(descriptor, static_cast<const sockaddr*>(wanted.memory), wanted.length);
    case Kind::receive:
      return ::recv(descriptor, wanted.memory, wanted.length, flags);
    case Kind::send:
      return ::send(descriptor, wanted.memory, wanted.length, flags | MSG_NOSIGNAL);
    case Kind::receive_message:
      return ::recvmsg(descriptor, message, flags);
    case Kind::send_message:
      return ::sendmsg(descriptor, message, flags | MSG_NOSIGNAL);
    case Kind::read:
      return positioned ? ::pread(descriptor, wanted.memory, wanted.length, offset)
                        : ::read(descriptor, wanted.memory, wanted.length);
    case Kind::write:
      return positioned ? ::pwrite(descriptor, wanted.memory, wanted.length, offset)
                        : ::write(descriptor, wanted.memory, wanted.length);
    case Kind::read_vector:
      return positioned ? ::preadv(descriptor, parts, part_count, offset)
                        : ::readv(descriptor, parts, part_count);
    case Kind::write_vector:
      return positioned ? ::pwritev(descriptor, parts, part_count, offset)
                        : ::writev(descriptor, parts, part_count);
    case Kind::poll: {
      pollfd watched{descriptor, static_cast<short>(wanted.flags), 0};
      const int found = ::poll(&watched, 1, -1);
      if (found > 0 && (watched.revents & POLLNVAL) != 0) return -EBADF;
      return found > 0 ? watched.revents : found;
    }
    case Kind::open:
      return ::open(path, flags | O_CLOEXEC, wanted.permissions);
    case Kind::close:
      return ::close(descriptor);
    case Kind::sync:
      return ::fsync(descriptor);
    case Kind::sync_data:
      return ::fdatasync(descriptor);
    case Kind::allocate:
      return ::fallocate(descriptor, flags, offset, static_cast<off_t>(wanted.size));
    case Kind::rename:
      return ::rename(path, static_cast<const char*>(wanted.more_memory));
    case Kind::unlink:
      return ::unlinkat(AT_FDCWD, path, flags);
    case Kind::call:
      break;
  }
  return -EINVAL;
}

}  // namespace

std::int64_t perform_blocking(const Operation& operation) noexcept {
  for (;;) {
    const std::int64_t result = call_once(operation);
    if (result != -1) return result;
    const int error = errno;
    if (error != EINTR || operation.kind == Kind::close) return -error;
  }
}

// What the pool gets in the operation's place: the pool uses the list of what it is given, and tells it directly.
struct BlockingCalls::Call final : Operation {
  explicit Call(BlockingCalls& calls) : Operation(Kind::call), owner(&calls) {}

  std::int64_t call_blocking() noexcept override {
    begun = true;
    return original->kind == Kind::call ? original->call_blocking() : perform_blocking(*original);
  }

  void completed() noexcept override {
    Operation& ended = *original;
    ended.result = result;
    ended.next = nullptr;
    owner->free(*this);
    if (!begun) return owner->refuse(ended, result);
    owner->told_.call_ended(ended);
  }

  BlockingCalls* owner;
  Operation* original = nullptr;
  Call* behind = nullptr;  // in the list of free ones, or of those in flight
  Call* ahead = nullptr;
  bool begun = false;
};

BlockingCalls::~BlockingCalls() {
  require(in_flight_ == 0, "a driver is destroyed with operations on the pool");
  while (free_ != nullptr) delete std::exchange(free_, free_->behind);
}

BlockingCalls::Call* BlockingCalls::make() {
  if (free_ != nullptr) return std::exchange(free_, free_->behind);
  return new Call(*this);
}

void BlockingCalls::start(Operation& operation) noexcept {
  BlockingPool* pool = nullptr;
  Call* call = nullptr;
  try {
    pool = &executor_.blocking_pool();
    call = make();
  } catch (const std::bad_alloc&) {
    return refuse(operation, -ENOMEM);
  }
  call->original = &operation;
  call->begun = false;
  call->ahead = nullptr;
  call->behind = std::exchange(live_, call);
  if (call->behind != nullptr) call->behind->ahead = call;
  operation.next = call;
  ++in_flight_;
  pool->start(*call);
}

void BlockingCalls::refuse(Operation& operation, std::int64_t error) noexcept {
  operation.result = operation.kind == Kind::close ? perform_blocking(operation) : error;
  told_.call_ended(operation);
}

void BlockingCalls::free(Call& call) noexcept {
  (call.ahead != nullptr ? call.ahead->behind : live_) = call.behind;
  if (call.behind != nullptr) call.behind->ahead = call.ahead;
  call.behind = std::exchange(free_, &call);
  --in_flight_;
}

void BlockingCalls::cancel(Operation& operation) noexcept {
  if (operation.kind == Operation::Kind::close) return;
  executor_.blocking_pool().cancel(*operation.next);
}

void BlockingCalls::finish() noexcept {
  for (Call* call = live_; call != nullptr; call = call->behind) cancel(*call->original);
  while (in_flight_ > 0) {
    executor_.blocking_pool().wait_for_end();
    executor_.blocking_pool().collect();
  }
}

}  // namespace bide
