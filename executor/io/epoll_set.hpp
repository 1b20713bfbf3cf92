#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sys/epoll.h>

#include <bide/executor/io/operation_list.hpp>
#include <bide/timers/instant.hpp>

namespace bide {

/// What waits for one descriptor, and how the kernel's epoll set knows it.
struct WatchedDescriptor {
  enum class Direction : std::uint8_t { reading, writing, polling };
  static constexpr std::size_t direction_count = 3;
  enum class Mode : std::uint8_t {
    absent,
    edge,  // once, for all events: descriptors of this library, whose closing is told
    one_shot,  // until the next event, anew each time: others' descriptors, which may be closed and be another file
  };

  static constexpr std::uint8_t bit(Direction direction) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(direction));
  }
  OperationList& queue(Direction direction) { return queues[static_cast<std::size_t>(direction)]; }
  bool idle() const { return queues[0].empty() && queues[1].empty() && queues[2].empty() && on_pool == 0; }

  std::array<OperationList, direction_count> queues{};
  WatchedDescriptor* next_waiting = nullptr;  // of those that wait for a buffer, or for another try
  int descriptor = -1;
  std::uint32_t generation =
      0;  // grows when the descriptor is closed: an event from before then is not for it
  Mode mode = Mode::absent;
  bool listed = false;        // in a list through next_waiting
  bool non_blocking = false;  // a listener that was made so
  std::uint8_t on_pool = 0;   // a bit for each direction whose first operation the pool has
};

/// First in, first out.
class WatchedList {
 public:
  bool empty() const { return first_ == nullptr; }
  /// One that is listed already stays where it is.
  void push(WatchedDescriptor& watched) noexcept;
  WatchedDescriptor& pop() noexcept;

 private:
  WatchedDescriptor* first_ = nullptr;
  WatchedDescriptor* last_ = nullptr;
};

/// The kernel's epoll set, and a record for each descriptor that was ever in it.
///
/// Cost: O(1) a call; a record is found by the descriptor's number and never moves.
class EpollSet {
 public:
  /// `wake` is watched from the start, edge-triggered. Throws: std::system_error.
  explicit EpollSet(int wake);
  ~EpollSet();
  EpollSet(const EpollSet&) = delete;
  EpollSet& operator=(const EpollSet&) = delete;

  /// Returns: nullptr when there is no memory for it. Requires: descriptor >= 0.
  WatchedDescriptor* record(int descriptor) noexcept;
  /// Returns: nullptr when there is none yet.
  WatchedDescriptor* known(int descriptor) noexcept;
  template <class F>
  void for_each(F function) {
    for (auto& page : pages_) {
      if (page == nullptr) continue;
      for (WatchedDescriptor& watched : *page) function(watched);
    }
  }

  /// Sees to it that events come: all, edge-triggered. Returns: 0 or an errno; EPERM: the descriptor is always ready.
  int watch(WatchedDescriptor& watched) noexcept;
  /// Sees to it that the next of these events comes, once. Errors as `watch`.
  int watch_once(WatchedDescriptor& watched, std::uint32_t events) noexcept;
  /// No events from it any more.
  void forget(WatchedDescriptor& watched) noexcept;

  struct Event {
    WatchedDescriptor* watched;  // nullptr: of one that is closed, or the wake descriptor
    bool is_wake;
    std::uint32_t events;
  };
  /// Blocks until there are events, but no longer than this: never shorter unless a signal comes. Duration::max(): for
  /// ever. Returns: how many there are for `event`; -EINTR.
  int wait(Duration longest) noexcept;
  Event event(int index) noexcept;

 private:
  static constexpr std::size_t page_size = 64;
  using Page = std::array<WatchedDescriptor, page_size>;

  int control(int what, WatchedDescriptor& watched, std::uint32_t events) noexcept;

  int descriptor_;
  bool nanoseconds_refused_ = false;  // no epoll_pwait2 here: milliseconds, rounded up
  std::vector<std::unique_ptr<Page>> pages_;
  std::array<epoll_event, 256> events_;
};

}  // namespace bide
