#include "changed_ring.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdint>

namespace bide::test::changed_ring {

std::optional<unsigned> forbidden_opcode;
bool kernel_restricts = true;
bool without_multishot = false;
io_uring* last_made = nullptr;

}  // namespace bide::test::changed_ring

using namespace bide::test::changed_ring;

namespace {

int register_with(const io_uring& ring, unsigned what, const void* argument, unsigned count) {
  const long result = ::syscall(SYS_io_uring_register, ring.ring_fd, what, argument, count);
  return result < 0 ? -errno : static_cast<int>(result);
}

// All but one.
int restrict(io_uring& ring, unsigned forbidden) {
  std::array<io_uring_restriction, 128> allowed{};
  unsigned count = 0;
  const auto add = [&](unsigned what, unsigned value) {
    allowed[count].opcode = static_cast<std::uint16_t>(what);
    allowed[count++].register_op = static_cast<std::uint8_t>(value);  // or sqe_op, sqe_flags: a union
  };
  for (unsigned opcode = 0; opcode < IORING_OP_LAST; ++opcode)
    if (opcode != forbidden) add(IORING_RESTRICTION_SQE_OP, opcode);
  for (unsigned call = 0; call < IORING_REGISTER_LAST; ++call) add(IORING_RESTRICTION_REGISTER_OP, call);
  add(IORING_RESTRICTION_SQE_FLAGS_ALLOWED, 0xFF);
  return register_with(ring, IORING_REGISTER_RESTRICTIONS, allowed.data(), count);
}

// Marks that no kernel knows yet: it says EINVAL to them, as an older one does to those of a request that repeats.
void spoil(io_uring_sqe& request) {
  constexpr std::uint32_t no_poll_flag = 1U << 31U;
  constexpr std::uint16_t no_io_priority = 1U << 15U;
  if (request.opcode == IORING_OP_POLL_ADD && (request.len & IORING_POLL_ADD_MULTI) != 0)
    request.len |= no_poll_flag;
  if ((request.opcode == IORING_OP_ACCEPT && (request.ioprio & IORING_ACCEPT_MULTISHOT) != 0) ||
      (request.opcode == IORING_OP_RECV && (request.ioprio & IORING_RECV_MULTISHOT) != 0))
    request.ioprio |= no_io_priority;
}

void spoil_pending() {
  if (!without_multishot || last_made == nullptr) return;
  const io_uring_sq& queue = last_made->sq;
  for (unsigned at = *queue.khead; at != *queue.ktail; ++at) spoil(queue.sqes[at & queue.ring_mask]);
}

template <class F>
F real(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int io_uring_queue_init_params(unsigned entries, io_uring* ring, io_uring_params* wanted) {
  static const auto init = real<decltype(&io_uring_queue_init_params)>("io_uring_queue_init_params");
  last_made = ring;
  if (!forbidden_opcode) return init(entries, ring, wanted);
  wanted->flags |= IORING_SETUP_R_DISABLED;
  const int made = init(entries, ring, wanted);
  if (made != 0) return made;
  kernel_restricts = restrict(*ring, *forbidden_opcode) == 0;
  return register_with(*ring, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
}

extern "C" int io_uring_enter(unsigned ring, unsigned to_submit, unsigned least, unsigned flags,
                              sigset_t* signals) {
  static const auto enter = real<decltype(&io_uring_enter)>("io_uring_enter");
  spoil_pending();
  return enter(ring, to_submit, least, flags, signals);
}

extern "C" int io_uring_enter2(unsigned ring, unsigned to_submit, unsigned least, unsigned flags,
                               sigset_t* signals, size_t size) {
  static const auto enter = real<decltype(&io_uring_enter2)>("io_uring_enter2");
  spoil_pending();
  return enter(ring, to_submit, least, flags, signals, size);
}
