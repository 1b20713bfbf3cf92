#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include <bide/executor/io/descriptor.hpp>

namespace bide {

/// What a read or write does, and on what.
struct Transfer {
  Operation::Kind kind;
  const char* verb;
  ObjectName name;
  std::uint64_t offset = Operation::current_offset;
};

/// The await of reads or writes of a span: the first starts with the whole of it.
class TransferWait : public DescriptorWait {
 public:
  bool await_ready() { return enter_on() || bytes_.empty(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    use(bytes_);
    begin_on(frame.promise());
  }

 protected:
  TransferWait(Descriptor& on, const Transfer& transfer, std::span<const std::byte> bytes,
               std::source_location where)
      : DescriptorWait(transfer.kind, transfer.verb, on, transfer.name, where), bytes_(bytes) {
    offset = transfer.offset;
  }
  ~TransferWait() = default;

  std::span<const std::byte> bytes_;
};

/// The await of one read or write: of some bytes.
///
/// Suspends: unless the span is empty. Cancellation point; what succeeded in the instant of a cancel is delivered.
/// Returns:  how many bytes; for a read 0 at the end, or for an empty span.
/// Throws:   Cancelled; std::system_error.
class [[nodiscard]] TransferSome final : public TransferWait {
 public:
  TransferSome(Descriptor& on, const Transfer& transfer, std::span<const std::byte> bytes,
               std::source_location where)
      : TransferWait(on, transfer, bytes, where) {}

  std::size_t await_resume() const { return static_cast<std::size_t>(end_or_throw()); }
};

/// The await of writes until all is written: goes on by itself after a short one, and the thread sleeps on.
///
/// Suspends: unless the span is empty. Cancellation point; a cancel may leave a part written.
/// Returns:  the size of the span.
/// Throws:   Cancelled; std::system_error, whose text says how much was written before.
class [[nodiscard]] TransferAll final : public TransferWait {
 public:
  TransferAll(Descriptor& on, const Transfer& transfer, std::span<const std::byte> bytes,
              std::source_location where)
      : TransferWait(on, transfer, bytes, where) {}

  std::size_t await_resume() const;

 private:
  bool goes_on() noexcept override;

  std::size_t done_ = 0;
};

}  // namespace bide
