#pragma once

#include <sys/signalfd.h>
#include <concepts>
#include <coroutine>
#include <csignal>
#include <initializer_list>
#include <source_location>

#include <bide/executor/io/descriptor.hpp>

namespace bide {

/// Signals as something to await, in place of handlers.
///
///     SignalSet signals({SIGINT, SIGTERM});
///     const int number = co_await signals.next();
///
/// While it lives it blocks them for the calling OS thread, and those that this one starts. So make it before any other
/// OS thread runs: the kernel gives a signal of the process to any that does not block it. Of several of one kind that
/// come before a `next`, one is told: the kernel does not count them.
///
/// Destroyed: those that it has blocked are unblocked, unless another one needs them; what has come and was not awaited
///            takes its usual effect.
/// Requires:  destroyed by the OS thread that made it, while no thread awaits it.
class SignalSet {
 public:
  class Next;

  /// Throws: std::system_error.
  explicit SignalSet(std::initializer_list<int> signals);
  ~SignalSet();
  SignalSet(const SignalSet&) = delete;
  SignalSet& operator=(const SignalSet&) = delete;

  /// `co_await signals.next()`: the number of the next signal.
  ///
  /// Suspends: until one has come. Cancellation point; one that came in the instant of the cancel is delivered.
  /// Order: of several threads, who came first.
  [[nodiscard]] Next next(std::source_location where = std::source_location::current());

 private:
  sigset_t blocked_;
  Descriptor descriptor_;
};

/// The wait for a signal.
class [[nodiscard]] SignalSet::Next final : public DescriptorWait {
 public:
  Next(SignalSet& set, std::source_location where);

  bool await_ready() { return enter_on(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    use(std::as_bytes(std::span(&signal_, 1)));
    begin_on(frame.promise());
  }
  int await_resume() const {
    static_cast<void>(end_or_throw());
    return static_cast<int>(signal_.ssi_signo);
  }

 private:
  signalfd_siginfo signal_{};
};

inline SignalSet::Next SignalSet::next(std::source_location where) { return Next(*this, where); }

}  // namespace bide
