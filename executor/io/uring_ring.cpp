#include <bide/executor/io/uring_ring.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>
#include <thread>

#include <sys/resource.h>

namespace bide {

namespace {

constexpr unsigned always = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
constexpr unsigned deferred = IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
                              IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
constexpr unsigned cooperative =
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;

constexpr unsigned few_submission_entries = 64;
constexpr unsigned few_completion_entries = 256;
constexpr int memory_tries = 8;  // 1 ms apart, then 2, 4 ...

/// Returns: what the sysctl says, or -1 where there is none.
int disabled_by_sysctl() {
  int value = -1;
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/io_uring_disabled", "re"); file != nullptr) {
    if (std::fscanf(file, "%d", &value) != 1) value = -1;
    std::fclose(file);
  }
  return value;
}

std::string bytes_of(int limit) {
  rlimit is{};
  if (::getrlimit(static_cast<__rlimit_resource>(limit), &is) != 0 || is.rlim_cur == RLIM_INFINITY)
    return "unlimited";
  return std::to_string(is.rlim_cur) + " bytes";
}

std::string no_memory_text() {
  return "the locked memory of this user is used up, or there is no room to map it (RLIMIT_MEMLOCK is " +
         bytes_of(RLIMIT_MEMLOCK) + ", RLIMIT_AS is " + bytes_of(RLIMIT_AS) + ")";
}

std::string cause_of_no_ring(int error) {
  switch (error) {
    case EPERM:
      if (const int value = disabled_by_sysctl(); value > 0)
        return "the sysctl kernel.io_uring_disabled is " + std::to_string(value);
      return "forbidden to this process, as by the seccomp filter of a container";
    case ENOSYS:
      return "the kernel has none, or a seccomp filter hides it";
    case ENOMEM:
      return no_memory_text();
    case EMFILE:
    case ENFILE:
      return "no descriptor is left";
    default:
      return "io_uring_setup fails";
  }
}

[[noreturn]] void refuse(int error, const std::string& why) {
  throw std::system_error(error, std::generic_category(), "io_uring: " + why);
}

[[noreturn]] void too_old(const char* lack) { refuse(ENOSYS, std::string("the kernel is too old: ") + lack); }

// A filter may allow the ring and forbid what is done with it.
[[noreturn]] void call_refused(const char* call, int error) {
  const bool filtered = error == EPERM || error == EACCES || error == ENOSYS;
  refuse(error,
         std::string(call) + (filtered ? " is forbidden to this process, as by a seccomp filter" : " fails"));
}

}  // namespace

UringRing::UringRing(const DriverOptions& options) : UringRing() {
  set_up(options);
  require_features();
}

UringRing::~UringRing() {
  if (made_) io_uring_queue_exit(&ring_);
}

void UringRing::set_up(const DriverOptions& options) {
  const unsigned submission = std::max(options.submission_entries, 2U);
  const unsigned completion = std::max(options.completion_entries, submission);
  int result = set_up_once(submission, completion, options);
  for (int tried = 0; result == -ENOMEM && tried < memory_tries; ++tried) {
    if (tried > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1 << tried));
    result = set_up_once(std::min(submission, few_submission_entries),
                         std::min(completion, few_completion_entries), options);
  }
  if (result < 0) refuse(-result, cause_of_no_ring(-result));
  made_ = true;
  entries_ = ring_.sq.ring_entries;
  if (io_uring_register_ring_fd(&ring_) == 1)  // an OS thread has room for 16
    call_flags_ |= IORING_ENTER_REGISTERED_RING;
}

int UringRing::set_up_once(unsigned submission, unsigned completion, const DriverOptions& options) {
  int result = -EINVAL;
  for (const unsigned flags : {deferred, cooperative, 0U}) {
    if (flags == deferred && options.deferred_task_run == DriverOptions::Use::never) continue;
    io_uring_params wanted{};
    wanted.flags = always | flags;
    wanted.cq_entries = completion;
    result = io_uring_queue_init_params(submission, &ring_, &wanted);
    if (result != -EINVAL) break;
  }
  return result;
}

void UringRing::require_features() {
  if (!has(IORING_FEAT_NODROP)) too_old("it may lose completions (no NODROP)");
  if (!has(IORING_FEAT_EXT_ARG)) too_old("it has no timeout for a wait (no EXT_ARG)");
  ask_operations();
  if (!supports(IORING_OP_POLL_ADD) || !supports(IORING_OP_ASYNC_CANCEL))
    too_old("it has no poll, or no cancel");
  try_call();
}

// One that is refused later could not be told from a fault, nor the refusal of a close from one that failed: then the
// descriptor is gone.
void UringRing::try_call() {
  io_uring_sqe* const request = next_request(0);
  io_uring_prep_close(request, -1);
  request->user_data = 0;
  const int result = call(0, Duration::zero());
  if (result < 0) call_refused("io_uring_enter", -result);
  if (!has_answer() || take_answer().res != -EBADF) opcodes_ &= ~(std::uint64_t{1} << IORING_OP_CLOSE);
}

void UringRing::ask_operations() {
  constexpr unsigned most = 64;
  alignas(io_uring_probe) std::array<std::byte, sizeof(io_uring_probe) + most * sizeof(io_uring_probe_op)>
      memory{};
  auto* const probe = reinterpret_cast<io_uring_probe*>(memory.data());
  const int result = io_uring_register_probe(&ring_, probe, most);
  if (result == -EINVAL) too_old("it does not tell its operations (no probe)");
  if (result < 0) call_refused("io_uring_register", -result);
  for (unsigned opcode = 0; opcode < most; ++opcode) {
    if (io_uring_opcode_supported(probe, static_cast<int>(opcode)) != 0)
      opcodes_ |= std::uint64_t{1} << opcode;
  }
}

int UringRing::call(unsigned least, Duration longest) {
  io_uring_smp_store_release(ring_.sq.ktail, ring_.sq.sqe_tail);
  ring_.sq.sqe_head = ring_.sq.sqe_tail;
  const auto descriptor = static_cast<unsigned>(ring_.enter_ring_fd);
  if (least == 0 || longest == Duration::max())
    return io_uring_enter(descriptor, pending(), least, call_flags_, nullptr);
  __kernel_timespec time{.tv_sec = longest.count() / 1'000'000'000,
                         .tv_nsec = longest.count() % 1'000'000'000};
  io_uring_getevents_arg argument{};
  argument.sigmask_sz = _NSIG / 8;
  argument.ts = reinterpret_cast<std::uintptr_t>(&time);
  return io_uring_enter2(descriptor, pending(), least, call_flags_ | IORING_ENTER_EXT_ARG,
                         reinterpret_cast<sigset_t*>(&argument), sizeof argument);
}

// The registered descriptor is one of the OS thread that made the ring: unregistering it here would drop another ring's.
void UringRing::abandon() {
  ring_.int_flags = 0;
  ring_.enter_ring_fd = ring_.ring_fd;
}

}  // namespace bide
