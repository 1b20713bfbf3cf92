#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace bide {

/// Buffers of one size that receives take turns with: the memory is got with the first one taken.
class SharedBuffers {
 public:
  SharedBuffers(std::uint32_t count, std::uint32_t bytes) : count_(count), bytes_(bytes) {}

  /// Returns: false when there is no memory.
  bool make() noexcept;

  /// Returns: its number, if one is free. Requires: made.
  std::optional<std::uint16_t> take() noexcept;
  void give_back(std::uint16_t number) noexcept;
  bool any_free() const { return !free_.empty(); }
  /// A quarter is left, or less.
  bool scarce() const { return free_.size() <= count_ / 4; }

  std::span<std::byte> memory(std::uint16_t number) noexcept {
    return {memory_.get() + std::size_t{number} * bytes_, bytes_};
  }

 private:
  std::uint32_t count_;
  std::uint32_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::uint16_t> free_;  // the latest given back goes first: it is warm
};

}  // namespace bide
