#include <bide/executor/io/attempt.hpp>

#include <algorithm>
#include <climits>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace bide {

namespace {

using Kind = Operation::Kind;

std::int64_t or_errno(std::int64_t result) noexcept { return result < 0 ? -errno : result; }

/// Returns: those that hold now, 0 for none.
std::int64_t poll_now(int descriptor, std::uint32_t events) noexcept {
  pollfd watched{descriptor, static_cast<short>(events), 0};
  if (::poll(&watched, 1, 0) < 0) return -errno;
  if ((watched.revents & POLLNVAL) != 0) return -EBADF;
  return watched.revents;
}

std::int64_t connect_state(int descriptor) noexcept {
  const std::int64_t ready = poll_now(descriptor, POLLOUT);
  if (ready == 0) return Attempt::not_now;
  if (ready < 0) return ready;
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
  return -error;
}

// The second and later attempts (`steps` is set) ask how the first one went.
std::int64_t connect_now(Operation& wanted) noexcept {
  if (wanted.steps != 0) return connect_state(wanted.descriptor);
  const int flags = ::fcntl(wanted.descriptor, F_GETFL);
  if (flags < 0) return -errno;
  const bool blocking = (flags & O_NONBLOCK) == 0;
  if (blocking) ::fcntl(wanted.descriptor, F_SETFL, flags | O_NONBLOCK);
  std::int64_t result =
      or_errno(::connect(wanted.descriptor, static_cast<const sockaddr*>(wanted.memory), wanted.length));
  if (blocking) ::fcntl(wanted.descriptor, F_SETFL, flags);
  if (result == -EAGAIN) return Attempt::later;  // a Unix listener's queue is full
  if (result == -EINPROGRESS || result == -EINTR) {
    wanted.steps = 1;
    return Attempt::not_now;
  }
  return result;
}

// A Unix socket that is not connected is writable also while the receiver's queue is full.
std::int64_t send_message_now(int descriptor, const msghdr& message, int flags) noexcept {
  const std::int64_t result = or_errno(::sendmsg(descriptor, &message, flags | MSG_DONTWAIT | MSG_NOSIGNAL));
  const auto* const to = static_cast<const sockaddr*>(message.msg_name);
  const bool to_unix = to != nullptr && message.msg_namelen > 0 && to->sa_family == AF_UNIX;
  return result == -EAGAIN && to_unix ? Attempt::later : result;
}

bool is_read(Kind kind) { return kind == Kind::read || kind == Kind::read_vector; }

// The parts of a read or write: the one of the plain kinds lies in `single`.
struct Parts {
  explicit Parts(const Operation& wanted) : single{wanted.memory, wanted.length} {
    if (wanted.kind == Kind::read_vector || wanted.kind == Kind::write_vector) {
      first = static_cast<const iovec*>(wanted.memory);
      count = static_cast<int>(wanted.length);
    }
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (int part = 0; part < count; ++part) sum += first[part].iov_len;
    return sum;
  }

  iovec single;
  const iovec* first = &single;
  int count = 1;
};

// Where the kernel, or a filter of system calls, refuses the question, the plain call tells what is wrong, if anything.
bool refused(std::int64_t result) {
  return result == -EOPNOTSUPP || result == -ENOSYS || result == -EPERM || result == -EINVAL;
}

// A read that comes short has met the end of the file, or what is not in the page cache.
std::int64_t read_cached(const Operation& wanted, const Parts& parts) noexcept {
  const auto offset = static_cast<off_t>(wanted.offset);
  const std::int64_t result =
      or_errno(::preadv2(wanted.descriptor, parts.first, parts.count, offset, RWF_NOWAIT));
  if (result == -EAGAIN || refused(result)) return Attempt::blocks;
  if (result <= 0 || static_cast<std::size_t>(result) == parts.bytes()) return result;
  char beyond = 0;
  const iovec rest{&beyond, 1};
  const bool at_end = ::preadv2(wanted.descriptor, &rest, 1, offset + result, RWF_NOWAIT) == 0;
  return at_end ? result : Attempt::blocks;
}

std::int64_t without_nowait(const Operation& wanted, const Parts& parts) noexcept {
  struct stat about {};
  if (::fstat(wanted.descriptor, &about) < 0) return -errno;
  const bool file = S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode);
  const bool pipe = S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode);
  if (file || (!pipe && !is_read(wanted.kind))) return Attempt::blocks;
  const std::int64_t ready = poll_now(wanted.descriptor, is_read(wanted.kind) ? POLLIN : POLLOUT);
  if (ready <= 0) return ready == 0 ? Attempt::not_now : ready;
  if (is_read(wanted.kind)) return or_errno(::readv(wanted.descriptor, parts.first, parts.count));
  if (parts.bytes() <= PIPE_BUF) return or_errno(::writev(wanted.descriptor, parts.first, parts.count));
  const auto* const end = parts.first + parts.count;
  const auto* const some = std::find_if(parts.first, end, [](const iovec& part) { return part.iov_len > 0; });
  return or_errno(::write(wanted.descriptor, some->iov_base, std::min<std::size_t>(some->iov_len, PIPE_BUF)));
}

std::int64_t transfer_now(const Operation& wanted) noexcept {
  const Parts parts(wanted);
  if (wanted.offset != Operation::current_offset)
    return is_read(wanted.kind) ? read_cached(wanted, parts) : Attempt::blocks;
  const std::int64_t result = or_errno(
      is_read(wanted.kind) ? ::preadv2(wanted.descriptor, parts.first, parts.count, -1, RWF_NOWAIT)
                           : ::pwritev2(wanted.descriptor, parts.first, parts.count, -1, RWF_NOWAIT));
  return refused(result) ? without_nowait(wanted, parts) : result;
}

std::int64_t attempt_once(Operation& wanted) noexcept {
  const auto flags = static_cast<int>(wanted.flags);
  auto* const message = static_cast<msghdr*>(wanted.memory);
  switch (wanted.kind) {
    case Kind::accept:
      return or_errno(::accept4(wanted.descriptor, nullptr, nullptr, flags));
    case Kind::connect:
      return connect_now(wanted);
    case Kind::receive:
      return or_errno(::recv(wanted.descriptor, wanted.memory, wanted.length, flags | MSG_DONTWAIT));
    case Kind::send:
      return or_errno(
          ::send(wanted.descriptor, wanted.memory, wanted.length, flags | MSG_DONTWAIT | MSG_NOSIGNAL));
    case Kind::receive_message:
      return or_errno(::recvmsg(wanted.descriptor, message, flags | MSG_DONTWAIT));
    case Kind::send_message:
      return send_message_now(wanted.descriptor, *message, flags);
    case Kind::poll: {
      const std::int64_t ready = poll_now(wanted.descriptor, wanted.flags);
      return ready == 0 ? Attempt::not_now : ready;
    }
    case Kind::read:
    case Kind::write:
    case Kind::read_vector:
    case Kind::write_vector:
      return transfer_now(wanted);
    default:
      return Attempt::blocks;
  }
}

}  // namespace

std::int64_t attempt(Operation& operation) noexcept {
  for (;;) {
    const std::int64_t result = attempt_once(operation);
    if (result != -EINTR) return result;
  }
}

}  // namespace bide
