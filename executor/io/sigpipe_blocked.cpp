#include <bide/executor/io/blocked_signals.hpp>
#include <bide/executor/io/sigpipe_blocked.hpp>

#include <csignal>
#include <ctime>

namespace bide {

namespace {

sigset_t sigpipe_alone() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool sigpipe_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

struct SigpipeBlocked::OfThread {
  int count = 0;
  bool was_pending = false;
};

constinit thread_local SigpipeBlocked::OfThread SigpipeBlocked::of_thread;

SigpipeBlocked::SigpipeBlocked() : made_in_(&of_thread) {
  if (of_thread.count++ > 0) return;
  of_thread.was_pending = sigpipe_pending();
  block_signals(sigpipe_alone());
}

SigpipeBlocked::~SigpipeBlocked() {
  if (made_in_ != &of_thread || --of_thread.count > 0) return;
  const sigset_t set = sigpipe_alone();
  constexpr timespec at_once{0, 0};
  if (!of_thread.was_pending && blocked_once(SIGPIPE) && sigpipe_pending())
    ::sigtimedwait(&set, nullptr, &at_once);
  unblock_signals(set);
}

}  // namespace bide
