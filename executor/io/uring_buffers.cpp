#include <bide/executor/io/uring_driver.hpp>

#include <cerrno>

#include <bide/executor/io/attempt.hpp>
#include <bide/executor/io/uring_ring.hpp>

// Receives that share buffers. With a ring of them the kernel chooses one when data is there. Where that can't be had,
// a connection is polled, and gets one of ours.
//
// The kernel says -ENOBUFS as well to a receive that has no data yet, if it was to try at once. Such a one is started
// again so that it waits for data first; one of those that is refused has data, and takes the next buffer for sure.

namespace bide {

int UringDriver::make_buffers() noexcept {
  if (buffer_ring_.made()) return 0;
  const bool wanted = rings_of_buffers_ && (refused_ & bit(Operation::Kind::receive)) == 0;
  if (wanted && buffer_ring_.make(*ring_) == 0) return 0;
  if (wanted) ++statistics_.fallbacks;
  return make_own_buffers();
}

// Requires: none of the ring's has ever been taken.
int UringDriver::make_own_buffers() noexcept {
  rings_of_buffers_ = false;
  if (buffer_ring_.made()) buffer_ring_.remove(*ring_);
  return own_buffers_.make() ? 0 : -ENOMEM;
}

std::span<std::byte> UringDriver::buffer(std::uint16_t number) noexcept {
  return buffer_ring_.made() ? buffer_ring_.memory(number) : own_buffers_.memory(number);
}

void UringDriver::give_back(std::uint16_t buffer) noexcept {
  if (!buffer_ring_.made()) {
    own_buffers_.give_back(buffer);
    return feed_one();
  }
  if (mark_.in_child()) return;
  buffer_ring_.give_back(buffer);
  feed_one();
  if (!buffer_ring_.none_taken()) return;
  while (!starved_.empty()) feed_one();
}

void UringDriver::starve(Operation& operation) {
  const bool had_data = is(operation, waits_for_data) && !is(operation, has_told);
  operation.driver_word |= waits_for_data;
  operation.driver_word &= ~std::uint32_t{has_told};
  if (is(operation, repeats_now)) ++statistics_.repeats_ended;
  if (!had_data || !buffer_ring_.all_taken()) return launch(operation);
  ++statistics_.out_of_buffers;
  put(operation, starved);
}

void UringDriver::feed_one() {
  if (starved_.empty()) return;
  Operation& operation = starved_.pop();
  operation.driver_word |= fed;
  launch(operation);
}

void UringDriver::receive_into_own(Operation& operation) {
  const std::optional<std::uint16_t> number = own_buffers_.take();
  if (!number) {
    ++statistics_.out_of_buffers;
    return put(operation, starved);
  }
  const std::span<std::byte> memory = own_buffers_.memory(*number);
  operation.memory = memory.data();
  operation.length = static_cast<std::uint32_t>(memory.size());
  const std::int64_t result = attempt(operation);
  operation.buffer = *number;
  if (result <= 0) own_buffers_.give_back(*number);
  if (result == Attempt::not_now) return poll_first(operation);
  if (result <= 0) feed_one();
  tell(operation, result);
}

}  // namespace bide
