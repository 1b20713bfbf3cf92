#include <bide/executor/io/signals.hpp>

#include <cerrno>

#include <bide/executor/io/blocked_signals.hpp>
#include <bide/executor/io/io_error.hpp>

namespace bide {

SignalSet::SignalSet(std::initializer_list<int> signals) {
  ::sigemptyset(&blocked_);
  for (const int signal : signals) {
    if (::sigaddset(&blocked_, signal) != 0) throw_io_error(EINVAL, "signal " + std::to_string(signal));
  }
  const int number = ::signalfd(-1, &blocked_, SFD_CLOEXEC);
  if (number < 0) throw_io_error(errno, "await signals");
  descriptor_ = Descriptor(number);
  block_signals(blocked_);
}

SignalSet::~SignalSet() { unblock_signals(blocked_); }

SignalSet::Next::Next(SignalSet& set, std::source_location where)
    : DescriptorWait(Kind::read, "read of", set.descriptor_,
                     {[](const void*) { return std::string("the next signal"); }, nullptr}, where) {}

}  // namespace bide
