#include <bide/executor/io/signals.hpp>

#include <cerrno>

#include <bide/executor/io/io_error.hpp>

namespace bide {

SignalSet::SignalSet(std::initializer_list<int> signals) {
  sigset_t asked;
  ::sigemptyset(&asked);
  for (const int signal : signals) {
    if (::sigaddset(&asked, signal) != 0) throw_io_error(EINVAL, "signal " + std::to_string(signal));
  }
  const int number = ::signalfd(-1, &asked, SFD_CLOEXEC);
  if (number < 0) throw_io_error(errno, "await signals");
  descriptor_ = Descriptor(number);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &asked, &before);
  ::sigemptyset(&blocked_);
  for (const int signal : signals) {
    if (::sigismember(&before, signal) == 0) ::sigaddset(&blocked_, signal);
  }
}

SignalSet::~SignalSet() { ::pthread_sigmask(SIG_UNBLOCK, &blocked_, nullptr); }

SignalSet::Next::Next(SignalSet& set, std::source_location where)
    : DescriptorWait(Kind::read, "read of", set.descriptor_,
                     {[](const void*) { return std::string("the next signal"); }, nullptr}, where) {}

}  // namespace bide
