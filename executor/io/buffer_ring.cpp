#include <bide/executor/io/buffer_ring.hpp>

#include <cerrno>

#include <sys/mman.h>

#include <bide/executor/io/uring_ring.hpp>
#include <bide/queue/require.hpp>

namespace bide {

namespace {

void* map(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

BufferRing::~BufferRing() { unmap(); }

int BufferRing::make(UringRing& ring) noexcept {
  memory_ = static_cast<std::byte*>(map(std::size_t{count_} * bytes_));
  shared_ = static_cast<io_uring_buf_ring*>(map(count_ * sizeof(io_uring_buf)));
  int result = -ENOMEM;
  if (memory_ != nullptr && shared_ != nullptr) {
    io_uring_buf_ring_init(shared_);
    io_uring_buf_reg wanted{};
    wanted.ring_addr = reinterpret_cast<std::uintptr_t>(shared_);
    wanted.ring_entries = count_;
    wanted.bgid = group;
    result = io_uring_register_buf_ring(ring.get(), &wanted, 0);
  }
  if (result < 0) {
    unmap();
    return result;
  }
  for (std::uint32_t number = 0; number < count_; ++number) offer(static_cast<std::uint16_t>(number));
  return 0;
}

void BufferRing::remove(UringRing& ring) noexcept {
  io_uring_unregister_buf_ring(ring.get(), group);
  unmap();
}

void BufferRing::give_back(std::uint16_t number) noexcept {
  require(number < count_ && taken_ > 0, "a buffer is given back that was not taken");
  --taken_;
  offer(number);
}

void BufferRing::offer(std::uint16_t number) noexcept {
  io_uring_buf_ring_add(shared_, memory(number).data(), bytes_, number, io_uring_buf_ring_mask(count_), 0);
  io_uring_buf_ring_advance(shared_, 1);
}

void BufferRing::unmap() noexcept {
  if (memory_ != nullptr) ::munmap(memory_, std::size_t{count_} * bytes_);
  if (shared_ != nullptr) ::munmap(shared_, count_ * sizeof(io_uring_buf));
  memory_ = nullptr;
  shared_ = nullptr;
}

}  // namespace bide
