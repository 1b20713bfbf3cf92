#pragma once

#include <cstddef>
#include <new>

namespace bide {

/// Memory for coroutine frames: free lists by size class, one pool per OS thread.
///
/// A frame lives for one call, so malloc would be most of the cost of an await; taking a block off a list is
/// a few instructions, and the block is warm. Blocks above `largest_bytes` go straight to operator new.
///
/// Invariants: a block in list c has c * granularity_bytes + 8 bytes, which with malloc's own 8 leaves no gap;
/// kept_bytes() never exceeds the limit (256 MiB; zero in builds with AddressSanitizer, so that use after free
/// is seen).
/// Order: nothing observable depends on addresses, so reuse order does not matter.
/// Cost: allocate and release O(1), no system call once warm.
class FramePool {
 public:
  static constexpr std::size_t granularity_bytes = 16;
  static constexpr std::size_t largest_bytes = 4104;

  constexpr FramePool() = default;

  void* allocate(std::size_t bytes) {
    const std::size_t index = class_of(bytes);
    if (index >= class_count) [[unlikely]]
      return allocate_large(bytes);
    Block* block = free_[index];
    if (block == nullptr) [[unlikely]]
      return allocate_fresh(index);
    free_[index] = block->next;
    kept_bytes_ -= block_bytes(index);
    return block;
  }

  void release(void* memory, std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    if (index >= class_count) [[unlikely]]
      return give_back(memory);
    const std::size_t with_it = kept_bytes_ + block_bytes(index);
    if (with_it > limit_bytes_) [[unlikely]]
      return give_back(memory);
    free_[index] = ::new (memory) Block{free_[index]};
    kept_bytes_ = with_it;
  }

  /// Bytes on the free lists.
  std::size_t kept_bytes() const { return kept_bytes_; }

  /// Sets how much the lists may keep, and gives back what is above it.
  void limit_kept_bytes(std::size_t bytes) noexcept;

 private:
  struct Block {
    Block* next;
  };
  static constexpr std::size_t class_of(std::size_t bytes) { return (bytes + 7) / granularity_bytes; }
  static constexpr std::size_t block_bytes(std::size_t index) { return index * granularity_bytes + 8; }
  static constexpr std::size_t class_count = largest_bytes / granularity_bytes + 1;

  void get_ready() noexcept;
  void* allocate_fresh(std::size_t index);
  // Not inline: g++ 12 takes a delete that it sees beside a promise's operator new for a mismatch, and warns.
  static void* allocate_large(std::size_t bytes);
  static void give_back(void* memory) noexcept;

  Block* free_[class_count] = {};
  std::size_t kept_bytes_ = 0;
  std::size_t limit_bytes_ = 0;  // set with the first fresh block, together with the clean-up at thread end
  bool ready_ = false;
};

/// This OS thread's pool.
inline constinit thread_local FramePool frame_pool;

}  // namespace bide
