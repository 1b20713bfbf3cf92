#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>

#include <bide/executor/io/address.hpp>
#include <bide/executor/io/descriptor.hpp>
#include <bide/executor/io/receiving.hpp>
#include <bide/executor/io/transfer.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// An operation on a socket, in words: "read from 127.0.0.1:51234".
std::string socket_call(const char* verb, const Address& name);
/// A socket is called by an address.
ObjectName socket_name(const Address& address) noexcept;

/// A connected stream socket: what TcpStream and UnixStream have in common. Satisfies Stream (executor/io/stream.hpp).
///
/// Reads may go on while writes do. Of two reads at a time each gets bytes, but which is the kernel's choice; two writes
/// may mix, since each may be short.
///
/// Cancel:   a read or write that succeeded in the instant of the cancel is delivered, and the cancel shows at the next
///           wait. Nothing that was read is lost by a cancel, but what a read_exactly has had of its span.
/// Destroyed, moved: see Descriptor. With bytes unread, the peer sees a reset.
/// Errors:   std::system_error, whose text names call and peer: "read from 127.0.0.1:51234: Connection reset by peer".
///           A peer that is gone is std::errc::broken_pipe; SIGPIPE is never raised. The system's "try again" is never
///           seen. Another thread's close: std::errc::operation_canceled; after it: std::errc::bad_file_descriptor.
class StreamSocket {
 public:
  class Read;
  class Receive;
  using Write = TransferSome;
  using WriteAll = TransferAll;
  enum class Setting : std::uint8_t { off, on };

  /// `co_await stream.read(span)`: some bytes, as many as are there, at most the span.
  ///
  /// Suspends: until one has come, unless bytes are queued by `receive`, or the span is empty. Cancellation point.
  /// Returns:  how many; 0 at the end of the stream, or for an empty span.
  [[nodiscard]] Read read(std::span<std::byte> bytes,
                          std::source_location where = std::source_location::current());

  /// `co_await stream.write(span)`: some of the bytes. Suspends: unless the span is empty. Cancellation point.
  /// Returns: how many the kernel took, at least one unless the span is empty.
  [[nodiscard]] Write write(std::span<const std::byte> bytes,
                            std::source_location where = std::source_location::current());

  /// `co_await stream.write_all(span)`. Suspends: as write. A cancel may leave a part written.
  /// Returns: the size of the span. Errors: the text says how much was written.
  [[nodiscard]] WriteAll write_all(std::span<const std::byte> bytes,
                                   std::source_location where = std::source_location::current());

  /// `co_await stream.read_exactly(span)`: fills the span.
  ///
  /// Returns: the size of the span. Throws: as read; IoError::end_of_stream, whose text says how much had come.
  [[nodiscard]] Task<std::size_t> read_exactly(std::span<std::byte> bytes);

  /// `co_await stream.receive()`: bytes in a buffer of the driver's, for streams that are mostly idle: ten thousand of
  /// them need no buffer each, and one request to the kernel serves many results.
  ///
  /// From the first call on the kernel goes on receiving, at most a few buffers ahead (Receiving::most_queued). `read`
  /// gets what is queued first, in order.
  /// Suspends: until something has come, unless it is queued. Cancellation point; what comes is kept for the next call.
  /// Returns:  a lease; empty at the end of the stream. Cost: one allocation a stream, at the first call.
  /// Requires: one thread at a time, and from the first call on one `read` at a time.
  [[nodiscard]] Receive receive(std::source_location where = std::source_location::current());

  /// The peer's reads end; ours go on. A plain call. Requires: no write is in flight. Throws: std::system_error.
  void shutdown_write();

  /// `co_await stream.close()`: see CloseDescriptor.
  [[nodiscard]] CloseDescriptor close(std::source_location where = std::source_location::current());
  bool is_open() const { return descriptor_.open(); }
  /// How errors call it: by its peer, or for an unnamed peer by its own address.
  std::string name() const { return name_.to_string(); }

  /// Throws: std::system_error.
  Address local_address() const;
  /// As the kernel says it; Address::Family::none once the peer is gone, or where it never had a name.
  Address peer_address() const;

  /// Bytes of the kernel's buffers; it doubles them. Throws: std::system_error, as all below.
  void set_send_buffer_bytes(int bytes);
  void set_receive_buffer_bytes(int bytes);

  /// For system calls and `readable`; stays the stream's.
  int number() const { return descriptor_.number(); }
  /// Gives it to the caller. Requires: nothing is in flight, and `receive` was not used.
  [[nodiscard]] int release() noexcept { return descriptor_.release(); }

 protected:
  StreamSocket() = default;
  StreamSocket(Descriptor descriptor, const Address& name) noexcept
      : descriptor_(std::move(descriptor)), name_(name) {}

  void set_option(int level, int option, int value, const char* what);

  Descriptor descriptor_;
  Address name_;  // how errors call it

 private:
  Receiving* receiving() const { return static_cast<Receiving*>(descriptor_.repeating()); }
  Receiving& receiving_or_new();
};

class [[nodiscard]] StreamSocket::Read final : public DescriptorWait, private Receiving::Waiter {
 public:
  Read(StreamSocket& socket, std::span<std::byte> bytes, std::source_location where)
      : DescriptorWait(Kind::receive, "read from", socket.descriptor_, socket_name(socket.name_), where),
        bytes_(bytes) {}

  bool await_ready() {
    if (enter_on() || bytes_.empty()) return true;
    return on().repeating() != nullptr && take_queued();
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    if (receiving() != nullptr && receiving()->owns_next()) return wait_for_queue(frame.promise());
    use(bytes_);
    begin_on(frame.promise());
  }
  std::size_t await_resume() const { return static_cast<std::size_t>(end_or_throw()); }

  bool ask_to_end() noexcept override;
  void withdraw() noexcept override;

 private:
  Receiving* receiving() const { return static_cast<Receiving*>(on().repeating()); }
  bool take_queued();
  void wait_for_queue(Frame& frame);
  void data_came() noexcept override;

  std::span<std::byte> bytes_;
  bool in_queue_ = false;
};

class [[nodiscard]] StreamSocket::Receive final : public Wait, private Receiving::Waiter {
 public:
  Receive(StreamSocket& socket, std::source_location where) : Wait(where), socket_(socket) {}

  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    wait_for_data(frame.promise());
  }
  Received await_resume();

  bool ask_to_end() noexcept override;
  void withdraw() noexcept override;
  std::string describe() const override { return socket_call("receive from", socket_.name_); }
  std::string remedy() const override { return "bring it about from outside"; }

 private:
  void wait_for_data(Frame& frame);
  void data_came() noexcept override;

  StreamSocket& socket_;
  Receiving* receiving_ = nullptr;
  std::int64_t result_ = 0;
  Received received_;
};

inline StreamSocket::Read StreamSocket::read(std::span<std::byte> bytes, std::source_location where) {
  return Read(*this, bytes, where);
}
inline StreamSocket::Write StreamSocket::write(std::span<const std::byte> bytes, std::source_location where) {
  return Write(descriptor_, {Operation::Kind::send, "write to", socket_name(name_)}, bytes, where);
}
inline StreamSocket::WriteAll StreamSocket::write_all(std::span<const std::byte> bytes,
                                                      std::source_location where) {
  return WriteAll(descriptor_, {Operation::Kind::send, "write to", socket_name(name_)}, bytes, where);
}
inline StreamSocket::Receive StreamSocket::receive(std::source_location where) {
  return Receive(*this, where);
}

}  // namespace bide
