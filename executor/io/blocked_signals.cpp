#include <bide/executor/io/blocked_signals.hpp>

#include <array>
#include <cstdint>

namespace bide {

namespace {

struct Blocked {
  std::uint32_t count = 0;
  bool before = false;  // when it was first blocked here, it was already
};
constinit thread_local std::array<Blocked, NSIG> blocked{};

}  // namespace

void block_signals(const sigset_t& signals) {
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(&signals, signal) != 1) continue;
    Blocked& one = blocked[static_cast<std::size_t>(signal)];
    if (one.count++ == 0) one.before = sigismember(&before, signal) == 1;
  }
}

void unblock_signals(const sigset_t& signals) noexcept {
  sigset_t free;
  sigemptyset(&free);
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(&signals, signal) != 1) continue;
    Blocked& one = blocked[static_cast<std::size_t>(signal)];
    if (--one.count == 0 && !one.before) sigaddset(&free, signal);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &free, nullptr);
}

bool blocked_once(int signal) noexcept { return blocked[static_cast<std::size_t>(signal)].count == 1; }

}  // namespace bide
