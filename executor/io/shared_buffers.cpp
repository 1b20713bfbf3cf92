#include <bide/executor/io/shared_buffers.hpp>

#include <new>

#include <bide/queue/require.hpp>

namespace bide {

bool SharedBuffers::make() noexcept {
  if (memory_ != nullptr) return true;
  try {
    std::unique_ptr<std::byte[]> memory(new std::byte[std::size_t{count_} * bytes_]);
    free_.reserve(count_);
    for (std::uint32_t number = count_; number > 0; --number)
      free_.push_back(static_cast<std::uint16_t>(number - 1));
    memory_ = std::move(memory);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::optional<std::uint16_t> SharedBuffers::take() noexcept {
  if (free_.empty()) return std::nullopt;
  const std::uint16_t number = free_.back();
  free_.pop_back();
  return number;
}

void SharedBuffers::give_back(std::uint16_t number) noexcept {
  require(number < count_ && free_.size() < count_, "a buffer is given back that was not taken");
  free_.push_back(number);
}

}  // namespace bide
