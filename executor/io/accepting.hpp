#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <system_error>

#include <bide/executor/io/address.hpp>
#include <bide/executor/io/arrival_queue.hpp>
#include <bide/executor/io/descriptor.hpp>
#include <bide/executor/timed_call.hpp>
#include <bide/executor/wait_queue.hpp>

namespace bide {

class AcceptWait;

/// What a listener has done so far. All counts.
struct ListenerStatistics {
  std::uint64_t accepted = 0;    // connections, delivered or queued
  std::uint64_t aborted = 0;     // connections that were gone when we came
  std::uint64_t exhausted = 0;   // episodes in which descriptors or memory had run out
  std::uint64_t backed_off = 0;  // pauses in such episodes
};

/// Told once an episode that connections can't be accepted for want of descriptors or memory (EMFILE, ENFILE, ENOBUFS,
/// ENOMEM), and that it is tried again. What it throws for want of memory is passed over.
using AcceptExhausted = void (*)(std::error_code error, const Address& listener);

/// Prints one line on stderr.
void print_accept_exhausted(std::error_code error, const Address& listener);

/// The accept of a listener that goes on and on, the connections that nobody took yet, and the threads that wait.
///
/// Invariants: each connection is delivered to one accept, in order, or closed. With `most_queued` waiting it stops, and
/// begins again when a thread waits; the kernel's backlog keeps the rest. One that there is no memory to keep is closed.
/// Where descriptors or memory have run out it tries again each `pause`, while threads wait: accept fails at once then,
/// and trying on would burn the processor.
class Accepting final : public RepeatingOperation, private TimedCall {
 public:
  static constexpr std::size_t most_queued = 64;
  static constexpr Duration pause = std::chrono::milliseconds(100);

  Accepting(Descriptor& on, const Address& address, AcceptExhausted exhausted);
  ~Accepting() final;

  const ListenerStatistics& statistics() const { return statistics_; }
  /// Connections that wait here for an accept.
  std::size_t queued() const { return queue_.size(); }

 private:
  friend class AcceptWait;

  void wait(AcceptWait& wait, Frame& frame);
  void stop_counting() noexcept;
  void left() noexcept;

  void arrived() noexcept override;
  void drop() noexcept override;
  void closing() noexcept override;
  bool awaited() const noexcept override { return !waiters_.empty(); }
  void due() noexcept override;
  void connected(int connection) noexcept;
  void tell_exhausted(std::int64_t error) const noexcept;
  void failed(std::int64_t error) noexcept;
  void keep(int connection) noexcept;
  void ran_out(std::int64_t error) noexcept;
  void go_on() noexcept;
  void accept_or_pause() noexcept;

  WaitQueue waiters_;
  ArrivalQueue<int> queue_{2 * most_queued};
  std::int64_t error_ = 0;        // for the next accept
  Executor* executor_ = nullptr;  // of the latest that waited
  Instant resumes_at_ = Instant::min();
  enum class Means : std::uint8_t { there, exhausted } means_ = Means::there;
  bool ending_ = false;    // the executor is about to take its waits back
  bool going_on_ = false;  // a start may complete within the call
  Address address_;
  AcceptExhausted exhausted_;
  ListenerStatistics statistics_;
};

/// The wait for a connection.
class AcceptWait : public QueuedWait {
 public:
  bool await_ready();
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    accepting().wait(*this, frame.promise());
  }

  bool ask_to_end() noexcept override;
  void withdraw() noexcept override;
  std::string describe() const override;
  std::string remedy() const override { return "connect to it"; }

 protected:
  AcceptWait(Descriptor& on, const Address& listener, std::source_location where)
      : QueuedWait(where), on_(on), listener_(listener) {}
  ~AcceptWait();

  /// Throws: Cancelled; std::system_error.
  Descriptor take_connection();
  const Address& listener() const { return listener_; }

 private:
  friend class Accepting;

  Accepting& accepting() const { return static_cast<Accepting&>(*on_.repeating()); }

  Descriptor& on_;
  const Address& listener_;
  std::int64_t result_ = -1;  // a descriptor, or a negative errno
};

}  // namespace bide
