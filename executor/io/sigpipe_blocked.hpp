#pragma once

namespace bide {

/// Blocks SIGPIPE for the OS thread while any of these lives there, since a write to a pipe that nobody reads raises it
/// in the thread that writes, and send's MSG_NOSIGNAL is for sockets alone. With the last one the mask is as before,
/// and a signal that has come meanwhile is gone: the writer has seen EPIPE.
///
/// A process that is started meanwhile inherits the mask, so ChildProcess resets it.
/// Threads: the destructor on another OS thread than the constructor changes nothing in either.
class SigpipeBlocked {
 public:
  SigpipeBlocked();
  ~SigpipeBlocked();
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  struct OfThread;
  static thread_local OfThread of_thread;

  const OfThread* made_in_;
};

}  // namespace bide
