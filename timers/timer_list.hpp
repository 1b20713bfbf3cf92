#pragma once

#include <bide/queue/require.hpp>
#include <bide/timers/instant.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace bide {

/// What waits for an instant. Lives in the awaiting frame, most often as a base class.
///
/// Requires: stays where it is while armed, and is neither armed twice nor destroyed armed.
/// Cost:     4 bytes.
class Timer {
 public:
  Timer() = default;
  /// A timer that is not armed may move: an awaitable travels into the expression that awaits it.
  Timer(Timer&& other) noexcept { require(!other.armed(), "an armed timer was moved"); }
  Timer& operator=(Timer&&) = delete;
  ~Timer() { require(!armed(), "an armed timer was destroyed"); }

  [[nodiscard]] bool armed() const { return slot_ != no_slot; }

 private:
  friend class TimerList;
  static constexpr std::uint32_t no_slot = 0xffff'ffff;

  std::uint32_t slot_ = no_slot;  // where the list keeps it, so that a cancel needs no search
};

/// The armed timers of one executor.
///
/// Invariants:
///   1. entries_ is a 4-ary heap: no entry goes before its parent, entries_[(i - 1) / 4].
///   2. entries_[i].timer->slot_ == i. Hence every entry is live, and a timer without an entry is not armed.
///   3. Sequences are unique and grow with every arm or place taken, so no two entries tie.
///
/// Order:  (instant, sequence of the arm, or of the place that was taken for it). Nothing else decides: no
///         address, no history of cancels.
/// Cost:   24 bytes a timer in the array, which doubles when it is full. O(log n) for arm, cancel and release
///         of n timers, O(1) for next_due whatever was cancelled.
/// Source: D. B. Johnson, "Priority queues with update and finding minimum spanning trees", 1975 (d-ary heap)
class TimerList {
 public:
  TimerList() = default;
  TimerList(const TimerList&) = delete;
  TimerList& operator=(const TimerList&) = delete;
  ~TimerList() { clear(); }

  /// Puts `timer` behind all others of the same instant.
  ///
  /// Requires: `timer` is not armed; inside a release, `at` is not before the instant being released.
  /// Throws:   std::bad_alloc when the array has to grow and cannot; nothing has changed then. See reserve.
  void arm(Timer& timer, Instant at) { insert(timer, at, take_place()); }

  /// For a timer that most often turns out not to be needed: takes its place in the order now, at no cost.
  ///
  /// Returns: the place, to arm one timer at, or none. It stays good over releases and clear.
  std::uint64_t take_place() { return next_sequence_++; }
  /// Puts `timer` among those of the same instant where it would be had it been armed when the place was taken.
  ///
  /// Requires: the place was taken here, and no other timer was armed at it; no release is under way.
  void arm(Timer& timer, Instant at, std::uint64_t place);

  /// Takes `timer` out; it is not fired, also when the release under way had yet to come to it.
  ///
  /// Requires: `timer` is armed, in this list.
  void cancel(Timer& timer);

  /// Takes every timer out without firing it: for an executor about to destroy its frames.
  void clear();

  /// Makes room for `timer_count` timers: arming up to so many does not throw.
  void reserve(std::size_t timer_count) { entries_.reserve(timer_count); }

  /// Fires all timers of the earliest instant, if that is not after `until`: one jump of the time.
  ///
  /// `fire(Timer&)` is called with the timer no longer armed. It may cancel any timer and arm any, this one
  /// too: what it arms waits for another release, also when it is due at this very instant.
  ///
  /// Order:    as armed.
  /// Requires: `fire` does not throw, nor call release or clear.
  /// Returns:  how many fired; 0 when none is due until `until`.
  template <class Fire>
  std::size_t release(Instant until, Fire&& fire);

  /// The instant of the earliest timer.
  [[nodiscard]] std::optional<Instant> next_due() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.front().at;
  }
  /// One is due at the instant or before.
  [[nodiscard]] bool any_due(Instant until) const {
    return !entries_.empty() && entries_.front().at <= until;
  }
  /// When the timer is due. Requires: it is armed, in this list.
  [[nodiscard]] Instant due(const Timer& timer) const {
    require(timer.slot_ < entries_.size() && entries_[timer.slot_].timer == &timer,
            "a timer that is not armed here was asked for its instant");
    return entries_[timer.slot_].at;
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Instant at;
    std::uint64_t sequence;  // does not run out: 2^64 arms take centuries
    Timer* timer;
  };

  static bool goes_before(const Entry& left, const Entry& right);
  static std::size_t earliest_of_four(const Entry* entries, std::size_t first);
  static std::size_t earliest_of_four_instants(const Entry* entries, std::size_t first);
  static std::size_t earliest_by_branches(const Entry* entries, std::size_t first, std::size_t end);

  bool due_in_release() const {
    return !entries_.empty() && entries_.front().at == released_ && entries_.front().sequence < release_end_;
  }
  void insert(Timer& timer, Instant at, std::uint64_t sequence);
  Timer& take_first();
  void remove(std::size_t slot);
  void place(std::size_t slot, const Entry& entry);
  void move_up(std::size_t slot, Entry entry);
  std::size_t move_gap_down(std::size_t slot);

  std::vector<Entry> entries_;
  std::uint64_t next_sequence_ = 0;
  // The release under way; min() stands for none, since no instant is before it.
  Instant released_ = Instant::min();
  std::uint64_t release_end_ = 0;
  bool releasing_ = false;
};

template <class Fire>
std::size_t TimerList::release(Instant until, Fire&& fire) {
  static_assert(std::is_nothrow_invocable_v<Fire&, Timer&>,
                "fire is noexcept: a release is not left half done");
  require(!releasing_, "timers were released from inside a release");
  if (!any_due(until)) return 0;
  releasing_ = true;
  released_ = entries_.front().at;
  release_end_ = next_sequence_;
  std::size_t fired_count = 0;
  for (; due_in_release(); ++fired_count) fire(take_first());
  released_ = Instant::min();
  releasing_ = false;
  return fired_count;
}

}  // namespace bide
