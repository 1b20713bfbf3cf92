#include <bide/executor/io/uring_driver.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <bide/executor/io/uring_ring.hpp>
#include <bide/queue/require.hpp>

// What stands in the request of each kind of operation.

namespace bide {

namespace {

using Kind = Operation::Kind;

}  // namespace

void UringDriver::prepare(Operation& operation, io_uring_sqe& request) {
  const int descriptor = operation.descriptor;
  const auto flags = static_cast<int>(operation.flags);
  const auto* const path = static_cast<const char*>(operation.memory);
  switch (operation.kind) {
    case Kind::accept:
      io_uring_prep_accept(&request, descriptor, nullptr, nullptr, flags);
      if (operation.repeats && (refused_ & bit(multishot_accept)) == 0) {
        request.ioprio |= IORING_ACCEPT_MULTISHOT;
        operation.driver_word |= repeats_now;
      }
      return use_registered(operation, request);
    case Kind::connect:
      io_uring_prep_connect(&request, descriptor, static_cast<const sockaddr*>(operation.memory),
                            operation.length);
      return use_registered(operation, request);
    case Kind::receive:
      return prepare_receive(operation, request);
    case Kind::send:
      return prepare_send(operation, request);
    case Kind::receive_message:
      io_uring_prep_recvmsg(&request, descriptor, static_cast<msghdr*>(operation.memory), operation.flags);
      return use_registered(operation, request);
    case Kind::send_message:
      // The kernel's own second try of a datagram would send what its first one left of the parts: nothing.
      io_uring_prep_sendmsg(&request, descriptor, static_cast<const msghdr*>(operation.memory),
                            operation.flags | MSG_NOSIGNAL | MSG_DONTWAIT);
      return use_registered(operation, request);
    case Kind::read:
      if (!prepare_fixed(operation, request))
        io_uring_prep_read(&request, descriptor, operation.memory, operation.length, operation.offset);
      return use_registered(operation, request);
    case Kind::write:
      if (!prepare_fixed(operation, request))
        io_uring_prep_write(&request, descriptor, operation.memory, operation.length, operation.offset);
      return use_registered(operation, request);
    case Kind::read_vector:
      io_uring_prep_readv(&request, descriptor, static_cast<const iovec*>(operation.memory), operation.length,
                          operation.offset);
      return use_registered(operation, request);
    case Kind::write_vector:
      io_uring_prep_writev(&request, descriptor, static_cast<const iovec*>(operation.memory),
                           operation.length, operation.offset);
      return use_registered(operation, request);
    case Kind::poll:
      return io_uring_prep_poll_add(&request, descriptor, operation.flags);
    case Kind::open:
      return io_uring_prep_openat(&request, AT_FDCWD, path, flags | O_CLOEXEC, operation.permissions);
    case Kind::close:
      return io_uring_prep_close(&request, descriptor);
    case Kind::sync:
      return io_uring_prep_fsync(&request, descriptor, 0);
    case Kind::sync_data:
      return io_uring_prep_fsync(&request, descriptor, IORING_FSYNC_DATASYNC);
    case Kind::allocate:
      io_uring_prep_rw(IORING_OP_FALLOCATE, &request, descriptor, nullptr, static_cast<unsigned>(flags),
                       operation.offset);
      request.addr = operation.size;
      return;
    case Kind::rename:
      return io_uring_prep_rename(&request, path, static_cast<const char*>(operation.more_memory));
    case Kind::unlink:
      return io_uring_prep_unlink(&request, path, flags);
    case Kind::call:
      break;
  }
  contract_broken("a call is started as an operation of the kernel", std::source_location::current());
}

void UringDriver::prepare_receive(Operation& operation, io_uring_sqe& request) {
  const auto flags = static_cast<int>(operation.flags);
  if (!operation.takes_buffer) {
    io_uring_prep_recv(&request, operation.descriptor, operation.memory, operation.length, flags);
    return use_registered(operation, request);
  }
  io_uring_prep_recv(&request, operation.descriptor, nullptr, 0, flags);  // 0: as long as the buffer
  request.flags |= IOSQE_BUFFER_SELECT;
  request.buf_group = BufferRing::group;
  // After the buffers had run out not a repeating one: Linux 6.18 loses the end of a Unix stream then.
  if (operation.repeats && !is(operation, waits_for_data) && (refused_ & bit(multishot_receive)) == 0) {
    request.ioprio |= IORING_RECV_MULTISHOT;
    operation.driver_word |= repeats_now;
  }
  if (is(operation, waits_for_data)) request.ioprio |= IORING_RECVSEND_POLL_FIRST;
  use_registered(operation, request);
}

void UringDriver::prepare_send(Operation& operation, io_uring_sqe& request) {
  const auto flags = static_cast<int>(operation.flags) | MSG_NOSIGNAL;
  if (operation.length >= zero_copy_from_bytes_ && (refused_ & bit(send_zero_copy)) == 0 &&
      !is(operation, copied)) [[unlikely]] {
    io_uring_prep_send_zc(&request, operation.descriptor, operation.memory, operation.length, flags, 0);
    operation.driver_word |= zero_copy;
  } else {
    io_uring_prep_send(&request, operation.descriptor, operation.memory, operation.length, flags);
  }
  use_registered(operation, request);
}

// A slot's number is its descriptor's. Standard streams are not ours: nobody would say when they are closed.
void UringDriver::use_registered(const Operation& operation, io_uring_sqe& request) {
  const auto slot = static_cast<std::size_t>(operation.descriptor);
  if (operation.descriptor <= 2 || slot >= registered_.size()) return;
  if (!registered_[slot]) {
    if (io_uring_register_files_update(ring_->get(), static_cast<unsigned>(slot), &operation.descriptor, 1) !=
        1)
      return;
    registered_[slot] = true;
  }
  request.flags |= IOSQE_FIXED_FILE;
}

}  // namespace bide
