#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

struct io_uring_buf_ring;

namespace bide {

class UringRing;

/// Buffers that the kernel gives out itself, to whichever receive has data: an idle connection holds none.
///
/// Owns: the memory, mapped and not touched until the kernel writes to it.
class BufferRing {
 public:
  /// The group that receives name.
  static constexpr std::uint16_t group = 0;

  BufferRing(std::uint32_t count, std::uint32_t bytes) : count_(count), bytes_(bytes) {}
  /// Requires: the ring is gone, or no receive is in flight.
  ~BufferRing();
  BufferRing(const BufferRing&) = delete;
  BufferRing& operator=(const BufferRing&) = delete;

  /// Returns: 0, or a negative errno; nothing has changed then. Requires: not made.
  int make(UringRing& ring) noexcept;
  /// Requires: no receive is in flight, and none is taken.
  void remove(UringRing& ring) noexcept;
  bool made() const { return shared_ != nullptr; }

  std::span<std::byte> memory(std::uint16_t number) const {
    return {memory_ + std::size_t{number} * bytes_, bytes_};
  }

  /// The kernel has given it out.
  void taken() { ++taken_; }
  /// Lets the kernel have it again. Requires: taken.
  void give_back(std::uint16_t number) noexcept;
  /// All that are known of are with takers.
  bool all_taken() const { return taken_ == count_; }
  bool none_taken() const { return taken_ == 0; }
  /// A quarter is left, or less.
  bool scarce() const { return count_ - taken_ <= count_ / 4; }

 private:
  void offer(std::uint16_t number) noexcept;
  void unmap() noexcept;

  std::uint32_t count_;
  std::uint32_t bytes_;
  std::uint32_t taken_ = 0;
  std::byte* memory_ = nullptr;
  io_uring_buf_ring* shared_ = nullptr;  // with the kernel: the buffers on offer
};

}  // namespace bide
