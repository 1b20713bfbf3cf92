#include <algorithm>

#include <sys/uio.h>

#include <bide/executor/io/uring_driver.hpp>
#include <bide/executor/io/uring_ring.hpp>

namespace bide {

bool UringDriver::register_memory(std::span<std::byte> memory) noexcept {
  if (mark_.in_child() || memory.empty()) return false;
  check_thread();
  if (!fixed_slots_made_) {
    if (io_uring_register_buffers_sparse(ring_->get(), most_fixed) != 0) return false;
    fixed_slots_made_ = true;
  }
  const auto slot = std::find_if(fixed_.begin(), fixed_.end(), [](auto taken) { return taken.empty(); });
  if (slot == fixed_.end()) return false;
  const iovec stretch{memory.data(), memory.size()};
  const auto number = static_cast<unsigned>(slot - fixed_.begin());
  const __u64 no_tag = 0;
  if (io_uring_register_buffers_update_tag(ring_->get(), number, &stretch, &no_tag, 1) != 1) return false;
  *slot = memory;
  ++fixed_count_;
  return true;
}

// What is in flight keeps its pages.
void UringDriver::unregister_memory(std::span<std::byte> memory) noexcept {
  const auto same = [memory](auto taken) {
    return taken.data() == memory.data() && taken.size() == memory.size();
  };
  const auto slot = std::find_if(fixed_.begin(), fixed_.end(), same);
  if (mark_.in_child() || slot == fixed_.end()) return;
  const iovec nothing{nullptr, 0};
  const __u64 no_tag = 0;
  io_uring_register_buffers_update_tag(ring_->get(), static_cast<unsigned>(slot - fixed_.begin()), &nothing,
                                       &no_tag, 1);
  *slot = {};
  --fixed_count_;
}

// False: its memory is not registered.
bool UringDriver::prepare_fixed(const Operation& operation, io_uring_sqe& request) {
  if (fixed_count_ == 0) [[likely]]
    return false;
  const auto* const first = static_cast<const std::byte*>(operation.memory);
  for (std::size_t slot = 0; slot < most_fixed; ++slot) {
    const std::span<std::byte> stretch = fixed_[slot];
    if (first < stretch.data() || first + operation.length > stretch.data() + stretch.size()) continue;
    const bool reads = operation.kind == Operation::Kind::read;
    io_uring_prep_rw(reads ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED, &request, operation.descriptor,
                     first, operation.length, operation.offset);
    request.buf_index = static_cast<std::uint16_t>(slot);
    ++statistics_.fixed;
    return true;
  }
  return false;
}

}  // namespace bide
